// What regions became, as text.
