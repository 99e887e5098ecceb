#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.h"
#include "tcompile_cuda.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(void){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec*1e3+t.tv_nsec*1e-6;}
typedef struct shape { const char *name; int b, m, n, k, ta, tb; } shape; // ta: stored [k,m]; tb: stored [n,k]
static const shape shapes[] = {
 {"sq2048",1,2048,2048,2048,0,0},{"sq4096",1,4096,4096,4096,0,0},{"sq4096t",1,4096,4096,4096,0,1},{"sq8192",1,8192,8192,8192,0,0},
 {"qkv",1,8192,2304,768,0,1},{"proj",1,8192,768,768,0,1},{"up",1,8192,3072,768,0,1},{"down",1,8192,768,3072,0,1},
 {"qkv_dx",1,8192,768,2304,0,0},{"up_dx",1,8192,768,3072,0,0},{"down_dx",1,8192,3072,768,0,0},
 {"qkv_dw",1,2304,768,8192,1,0},{"up_dw",1,3072,768,8192,1,0},{"down_dw",1,768,3072,8192,1,0},{"proj_dw",1,768,768,8192,1,0},
 {"logits",1,8192,50264,768,0,1},{"logits_dx",1,8192,768,50264,0,0},{"logits_dw",1,50264,768,8192,1,0},
 {"qk",96,1024,1024,64,0,1},{"pv",96,1024,64,1024,0,0},{"pv_t",96,1024,64,1024,1,0},
 {"odd",1,1000,3000,5000,0,0},{"odd2",1,333,517,1029,0,0},{"odd3",2,257,131,72,1,1},{"small",1,512,512,512,0,0},{"thin",1,128,4096,4096,0,1},{"long",1,64,64,65536,0,1},
};
static uint16_t bf(float f){uint32_t u;memcpy(&u,&f,4);u+=0x7fff+((u>>16)&1);return (uint16_t)(u>>16);}
static float fb(uint16_t h){uint32_t u=(uint32_t)h<<16;float f;memcpy(&f,&u,4);return f;}
int main(int argc,char**argv){
  int reps = argc>1?atoi(argv[1]):20; const char*only=argc>2?argv[2]:NULL;
  tc_ctx*tc=tc_open(NULL);
  for(size_t i=0;i<sizeof shapes/sizeof*shapes;i++){
    const shape*s=&shapes[i]; if(only&&!strstr(only,s->name))continue;
    size_t na=(size_t)s->b*s->m*s->k,nb=(size_t)s->b*s->k*s->n,nc=(size_t)s->b*s->m*s->n;
    uint16_t*a=malloc(na*2),*b=malloc(nb*2),*c=malloc(nc*2);
    uint32_t r=12345u+(uint32_t)i;
    for(size_t j=0;j<na;j++){r=r*1664525u+1013904223u;a[j]=bf((float)(int32_t)r/2147483648.f);}
    for(size_t j=0;j<nb;j++){r=r*1664525u+1013904223u;b[j]=bf((float)(int32_t)r/2147483648.f);}
    tc_tensor A=tc_to(tc_from_data(tc,a,s->ta?TC_DIMS(s->b,s->k,s->m):TC_DIMS(s->b,s->m,s->k),TC_BF16),"cuda:0");
    tc_tensor B=tc_to(tc_from_data(tc,b,s->tb?TC_DIMS(s->b,s->n,s->k):TC_DIMS(s->b,s->k,s->n),TC_BF16),"cuda:0");
    tc_tensor y=tc_null(); double best=1e9,t0;
    for(int rep=0;rep<4;rep++){
      int n=rep?reps:1; t0=now();
      for(int q=0;q<n;q++){
        tc_trace_begin(tc,s->name);
        tc_tensor x=s->ta?tc_transpose(A,1,2):A,w=s->tb?tc_transpose(B,1,2):B;
        y=tc_matmul(x,w);
        if(tc_trace_end(tc)!=TC_OK)printf("%s\n",tc_error_text(tc));
      }
      if(!rep) { tc_read(y,c,nc*2); printf("%-10s first %.0f ms ",s->name,now()-t0); continue; }
      tc_sync(tc); double t=(now()-t0)/n; if(t<best)best=t;
    }
    double worst=0; size_t bad=0;
    tc_read(y,c,nc*2);
    for(int q=0;q<400;q++){
      r=r*1664525u+1013904223u; size_t e=((size_t)r<<8^q*7919u*31)%nc; if(q<8)e=nc-1-q; if(q>=8&&q<16)e=q;
      size_t bi=e/((size_t)s->m*s->n),ro=e/s->n%s->m,co=e%s->n; double sum=0,mag=0;
      for(int k=0;k<s->k;k++){ double x=fb(s->ta?a[(bi*s->k+k)*s->m+ro]:a[(bi*s->m+ro)*s->k+k]),w=fb(s->tb?b[(bi*s->n+co)*s->k+k]:b[(bi*s->k+k)*s->n+co]); sum+=x*w; mag+=fabs(x*w);}
      double d=fabs(fb(c[e])-sum)-fabs(sum)/256; if(d>1e-5*mag+1e-3)bad++; if(d>worst)worst=d;
    }
    printf("%.4f ms %.0f TFLOP/s bad %zu worst %.2g\n",best,2e-9*s->b*s->m*(double)s->n*s->k/best,bad,worst);fflush(stdout);
    tc_free(y);tc_free(A);tc_free(B);free(a);free(b);free(c);
    if(tc_error(tc)){printf("%s\n",tc_error_text(tc));}
  }
  tc_close(tc);
}
