import torch,time
sh=[("sq2048",1,2048,2048,2048,0,0),("sq4096",1,4096,4096,4096,0,0),("sq4096t",1,4096,4096,4096,0,1),("sq8192",1,8192,8192,8192,0,0),("qkv",1,8192,2304,768,0,1),("proj",1,8192,768,768,0,1),("up",1,8192,3072,768,0,1),("down",1,8192,768,3072,0,1),("qkv_dx",1,8192,768,2304,0,0),("up_dx",1,8192,768,3072,0,0),("down_dx",1,8192,3072,768,0,0),("qkv_dw",1,2304,768,8192,1,0),("up_dw",1,3072,768,8192,1,0),("down_dw",1,768,3072,8192,1,0),("proj_dw",1,768,768,8192,1,0),("logits",1,8192,50264,768,0,1),("logits_dx",1,8192,768,50264,0,0),("logits_dw",1,50264,768,8192,1,0),("qk",96,1024,1024,64,0,1),("pv",96,1024,64,1024,0,0),("pv_t",96,1024,64,1024,1,0),("odd",1,1000,3000,5000,0,0),("odd2",1,333,517,1029,0,0),("small",1,512,512,512,0,0),("thin",1,128,4096,4096,0,1),("long",1,64,64,65536,0,1)]
for n,b,m,N,k,ta,tb in sh:
    A=torch.rand((b,k,m) if ta else (b,m,k),device="cuda",dtype=torch.bfloat16)*2-1
    B=torch.rand((b,N,k) if tb else (b,k,N),device="cuda",dtype=torch.bfloat16)*2-1
    x=A.transpose(1,2) if ta else A; w=B.transpose(1,2) if tb else B
    if b==1: x,w=x[0],w[0]
    f=lambda: torch.matmul(x,w)
    f();torch.cuda.synchronize();best=1e9
    for r in range(3):
        t=time.perf_counter()
        for q in range(20): f()
        torch.cuda.synchronize();best=min(best,(time.perf_counter()-t)/20*1e3)
    print("%-10s %.4f ms %.0f TFLOP/s"%(n,best,2e-9*b*m*N*k/best),flush=True)
