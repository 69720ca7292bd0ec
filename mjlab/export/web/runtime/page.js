"use strict";(()=>{var dx=Object.create;var mf=Object.defineProperty;var fx=Object.getOwnPropertyDescriptor;var px=Object.getOwnPropertyNames;var mx=Object.getPrototypeOf,gx=Object.prototype.hasOwnProperty;var pr=(i=>typeof require<"u"?require:typeof Proxy<"u"?new Proxy(i,{get:(e,t)=>(typeof require<"u"?require:e)[t]}):i)(function(i){if(typeof require<"u")return require.apply(this,arguments);throw Error('Dynamic require of "'+i+'" is not supported')});var _x=(i,e,t,n)=>{if(e&&typeof e=="object"||typeof e=="function")for(let r of px(e))!gx.call(i,r)&&r!==t&&mf(i,r,{get:()=>e[r],enumerable:!(n=fx(e,r))||n.enumerable});return i};var vx=(i,e,t)=>(t=i!=null?dx(mx(i)):{},_x(e||!i||!i.__esModule?mf(t,"default",{value:i,enumerable:!0}):t,i));var qf=0,ah=1,jf=2;var ja=1,Yf=2,Vs=3,Rr=0,Xn=1,Oi=2,$r=0,Hs=1,oh=2,lh=3,ch=4,Jf=5;var Xr=100,Zf=101,Kf=102,Qf=103,ep=104,tp=200,np=201,ip=202,rp=203,uh=204,hh=205,sp=206,ap=207,op=208,lp=209,cp=210,up=211,hp=212,dp=213,fp=214,al=0,ol=1,ll=2,Ls=3,cl=4,ul=5,hl=6,dl=7,dh=0,pp=1,mp=2,Bi=0,fh=1,ph=2,mh=3,gh=4,_h=5,vh=6,yh=7;var xh=300,qr=301,Ws=302,Bl=303,kl=304,Ds=1e3,Di=1001,fl=1002,Tn=1003,gp=1004;var Ya=1005;var Hn=1006,zl=1007;var rr=1008;var Jn=1009,bh=1010,Sh=1011,$s=1012,Gl=1013,Ei=1014,mi=1015,Ti=1016,Vl=1017,Hl=1018,jr=1020,wh=35902,Mh=35899,Eh=1021,Th=1022,Ai=1023,Qi=1026,sr=1027,Wl=1028,$l=1029,Cr=1030,Xl=1031;var ql=1033,Ja=33776,Za=33777,Ka=33778,Qa=33779,jl=35840,Yl=35841,Jl=35842,Zl=35843,Kl=36196,Ql=37492,ec=37496,tc=37488,nc=37489,eo=37490,ic=37491,rc=37808,sc=37809,ac=37810,oc=37811,lc=37812,cc=37813,uc=37814,hc=37815,dc=37816,fc=37817,pc=37818,mc=37819,gc=37820,_c=37821,vc=36492,yc=36494,xc=36495,bc=36283,Sc=36284,to=36285,wc=36286;var Sa=2300,pl=2301,rl=2302,Ku=2303,Qu=2400,eh=2401,th=2402;var _p=3200;var Mc=0,vp=1,ar="",Nn="srgb",wa="srgb-linear",Ma="linear",Jt="srgb";var sl=7680;var yp=519,xp=512,bp=513,Sp=514,Ah=515,wp=516,Mp=517,Rh=518,Ch=519,Ep=35044;var Ph="300 es",fi=2e3,Fs=2001;function yx(i){for(let e=i.length-1;e>=0;--e)if(i[e]>=65535)return!0;return!1}function xx(i){return ArrayBuffer.isView(i)&&!(i instanceof DataView)}function Ea(i){return document.createElementNS("http://www.w3.org/1999/xhtml",i)}function Tp(){let i=Ea("canvas");return i.style.display="block",i}var gf={},Ns=null;function Ih(...i){let e="THREE."+i.shift();Ns?Ns("log",e,...i):console.log(e,...i)}function Ap(i){let e=i[0];if(typeof e=="string"&&e.startsWith("TSL:")){let t=i[1];t&&t.isStackTrace?i[0]+=" "+t.getLocation():i[1]='Stack trace not available. Enable "THREE.Node.captureStackTrace" to capture stack traces.'}return i}function ht(...i){i=Ap(i);let e="THREE."+i.shift();if(Ns)Ns("warn",e,...i);else{let t=i[0];t&&t.isStackTrace?console.warn(t.getError(e)):console.warn(e,...i)}}function pt(...i){i=Ap(i);let e="THREE."+i.shift();if(Ns)Ns("error",e,...i);else{let t=i[0];t&&t.isStackTrace?console.error(t.getError(e)):console.error(e,...i)}}function ya(...i){let e=i.join(" ");e in gf||(gf[e]=!0,ht(...i))}function Rp(i,e,t){return new Promise(function(n,r){function a(){switch(i.clientWaitSync(e,i.SYNC_FLUSH_COMMANDS_BIT,0)){case i.WAIT_FAILED:r();break;case i.TIMEOUT_EXPIRED:setTimeout(a,t);break;default:n()}}setTimeout(a,t)})}var Cp={[al]:al,[ll]:hl,[cl]:cl,[Ls]:ul,[ol]:ol,[hl]:ll,[dl]:dl,[ul]:Ls},Fi=class{addEventListener(e,t){this._listeners===void 0&&(this._listeners={});let n=this._listeners;n[e]===void 0&&(n[e]=[]),n[e].indexOf(t)===-1&&n[e].push(t)}hasEventListener(e,t){let n=this._listeners;return n===void 0?!1:n[e]!==void 0&&n[e].indexOf(t)!==-1}removeEventListener(e,t){let n=this._listeners;if(n===void 0)return;let r=n[e];if(r!==void 0){let a=r.indexOf(t);a!==-1&&r.splice(a,1)}}dispatchEvent(e){let t=this._listeners;if(t===void 0)return;let n=t[e.type];if(n!==void 0){e.target=this;let r=n.slice(0);for(let a=0,l=r.length;a<l;a++)r[a].call(this,e);e.target=null}}},Dn=["00","01","02","03","04","05","06","07","08","09","0a","0b","0c","0d","0e","0f","10","11","12","13","14","15","16","17","18","19","1a","1b","1c","1d","1e","1f","20","21","22","23","24","25","26","27","28","29","2a","2b","2c","2d","2e","2f","30","31","32","33","34","35","36","37","38","39","3a","3b","3c","3d","3e","3f","40","41","42","43","44","45","46","47","48","49","4a","4b","4c","4d","4e","4f","50","51","52","53","54","55","56","57","58","59","5a","5b","5c","5d","5e","5f","60","61","62","63","64","65","66","67","68","69","6a","6b","6c","6d","6e","6f","70","71","72","73","74","75","76","77","78","79","7a","7b","7c","7d","7e","7f","80","81","82","83","84","85","86","87","88","89","8a","8b","8c","8d","8e","8f","90","91","92","93","94","95","96","97","98","99","9a","9b","9c","9d","9e","9f","a0","a1","a2","a3","a4","a5","a6","a7","a8","a9","aa","ab","ac","ad","ae","af","b0","b1","b2","b3","b4","b5","b6","b7","b8","b9","ba","bb","bc","bd","be","bf","c0","c1","c2","c3","c4","c5","c6","c7","c8","c9","ca","cb","cc","cd","ce","cf","d0","d1","d2","d3","d4","d5","d6","d7","d8","d9","da","db","dc","dd","de","df","e0","e1","e2","e3","e4","e5","e6","e7","e8","e9","ea","eb","ec","ed","ee","ef","f0","f1","f2","f3","f4","f5","f6","f7","f8","f9","fa","fb","fc","fd","fe","ff"],_f=1234567,xa=Math.PI/180,Us=180/Math.PI;function Xs(){let i=Math.random()*4294967295|0,e=Math.random()*4294967295|0,t=Math.random()*4294967295|0,n=Math.random()*4294967295|0;return(Dn[i&255]+Dn[i>>8&255]+Dn[i>>16&255]+Dn[i>>24&255]+"-"+Dn[e&255]+Dn[e>>8&255]+"-"+Dn[e>>16&15|64]+Dn[e>>24&255]+"-"+Dn[t&63|128]+Dn[t>>8&255]+"-"+Dn[t>>16&255]+Dn[t>>24&255]+Dn[n&255]+Dn[n>>8&255]+Dn[n>>16&255]+Dn[n>>24&255]).toLowerCase()}function Ot(i,e,t){return Math.max(e,Math.min(t,i))}function Lh(i,e){return(i%e+e)%e}function bx(i,e,t,n,r){return n+(i-e)*(r-n)/(t-e)}function Sx(i,e,t){return i!==e?(t-i)/(e-i):0}function ba(i,e,t){return(1-t)*i+t*e}function wx(i,e,t,n){return ba(i,e,1-Math.exp(-t*n))}function Mx(i,e=1){return e-Math.abs(Lh(i,e*2)-e)}function Ex(i,e,t){return i<=e?0:i>=t?1:(i=(i-e)/(t-e),i*i*(3-2*i))}function Tx(i,e,t){return i<=e?0:i>=t?1:(i=(i-e)/(t-e),i*i*i*(i*(i*6-15)+10))}function Ax(i,e){return i+Math.floor(Math.random()*(e-i+1))}function Rx(i,e){return i+Math.random()*(e-i)}function Cx(i){return i*(.5-Math.random())}function Px(i){i!==void 0&&(_f=i);let e=_f+=1831565813;return e=Math.imul(e^e>>>15,e|1),e^=e+Math.imul(e^e>>>7,e|61),((e^e>>>14)>>>0)/4294967296}function Ix(i){return i*xa}function Lx(i){return i*Us}function Dx(i){return i>0&&Number.isInteger(i)&&2**Math.round(Math.log2(i))===i}function Fx(i){return Math.pow(2,Math.ceil(Math.log(i)/Math.LN2))}function Dh(i){return Math.pow(2,Math.floor(Math.log(i)/Math.LN2))}function Nx(i,e,t,n,r){let a=Math.cos,l=Math.sin,c=a(t/2),h=l(t/2),d=a((e+n)/2),p=l((e+n)/2),m=a((e-n)/2),g=l((e-n)/2),v=a((n-e)/2),w=l((n-e)/2);switch(r){case"XYX":i.set(c*p,h*m,h*g,c*d);break;case"YZY":i.set(h*g,c*p,h*m,c*d);break;case"ZXZ":i.set(h*m,h*g,c*p,c*d);break;case"XZX":i.set(c*p,h*w,h*v,c*d);break;case"YXY":i.set(h*v,c*p,h*w,c*d);break;case"ZYZ":i.set(h*w,h*v,c*p,c*d);break;default:ht("MathUtils: .setQuaternionFromProperEuler() encountered an unknown order: "+r)}}function Fh(i){switch(i.constructor){case Uint32Array:return 4294967295;case Uint16Array:return 65535;case Uint8Array:case Uint8ClampedArray:return 255;case Int32Array:return 2147483647;case Int16Array:return 32767;case Int8Array:return 127;default:return}}function Pp(i,e){if(e.constructor===Float32Array)return i;let t=Fh(e);if(t===void 0)throw new Error("THREE.MathUtils: Invalid component type.");return Math.max(i/t,-1)}function Ip(i,e){if(e.constructor===Float32Array)return i;let t=Fh(e);if(t===void 0)throw new Error("THREE.MathUtils: Invalid component type.");return Math.round(i*t)}var Nh={DEG2RAD:xa,RAD2DEG:Us,generateUUID:Xs,clamp:Ot,euclideanModulo:Lh,mapLinear:bx,inverseLerp:Sx,lerp:ba,damp:wx,pingpong:Mx,smoothstep:Ex,smootherstep:Tx,randInt:Ax,randFloat:Rx,randFloatSpread:Cx,seededRandom:Px,degToRad:Ix,radToDeg:Lx,isPowerOfTwo:Dx,ceilPowerOfTwo:Fx,floorPowerOfTwo:Dh,setQuaternionFromProperEuler:Nx,normalize:Ip,denormalize:Pp},Lt=class{static{this.prototype.isVector2=!0}constructor(e=0,t=0){this.x=e,this.y=t}get width(){return this.x}set width(e){this.x=e}get height(){return this.y}set height(e){this.y=e}set(e,t){return this.x=e,this.y=t,this}setScalar(e){return this.x=e,this.y=e,this}setX(e){return this.x=e,this}setY(e){return this.y=e,this}setComponent(e,t){switch(e){case 0:this.x=t;break;case 1:this.y=t;break;default:throw new Error("THREE.Vector2: index is out of range: "+e)}return this}getComponent(e){switch(e){case 0:return this.x;case 1:return this.y;default:throw new Error("THREE.Vector2: index is out of range: "+e)}}clone(){return new this.constructor(this.x,this.y)}copy(e){return this.x=e.x,this.y=e.y,this}add(e){return this.x+=e.x,this.y+=e.y,this}addScalar(e){return this.x+=e,this.y+=e,this}addVectors(e,t){return this.x=e.x+t.x,this.y=e.y+t.y,this}addScaledVector(e,t){return this.x+=e.x*t,this.y+=e.y*t,this}sub(e){return this.x-=e.x,this.y-=e.y,this}subScalar(e){return this.x-=e,this.y-=e,this}subVectors(e,t){return this.x=e.x-t.x,this.y=e.y-t.y,this}multiply(e){return this.x*=e.x,this.y*=e.y,this}multiplyScalar(e){return this.x*=e,this.y*=e,this}divide(e){return this.x/=e.x,this.y/=e.y,this}divideScalar(e){return this.multiplyScalar(1/e)}applyMatrix3(e){let t=this.x,n=this.y,r=e.elements;return this.x=r[0]*t+r[3]*n+r[6],this.y=r[1]*t+r[4]*n+r[7],this}min(e){return this.x=Math.min(this.x,e.x),this.y=Math.min(this.y,e.y),this}max(e){return this.x=Math.max(this.x,e.x),this.y=Math.max(this.y,e.y),this}clamp(e,t){return this.x=Ot(this.x,e.x,t.x),this.y=Ot(this.y,e.y,t.y),this}clampScalar(e,t){return this.x=Ot(this.x,e,t),this.y=Ot(this.y,e,t),this}clampLength(e,t){let n=this.length();return this.divideScalar(n||1).multiplyScalar(Ot(n,e,t))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this}negate(){return this.x=-this.x,this.y=-this.y,this}dot(e){return this.x*e.x+this.y*e.y}cross(e){return this.x*e.y-this.y*e.x}lengthSq(){return this.x*this.x+this.y*this.y}length(){return Math.sqrt(this.x*this.x+this.y*this.y)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)}normalize(){return this.divideScalar(this.length()||1)}angle(){return Math.atan2(-this.y,-this.x)+Math.PI}angleTo(e){let t=Math.sqrt(this.lengthSq()*e.lengthSq());if(t===0)return Math.PI/2;let n=this.dot(e)/t;return Math.acos(Ot(n,-1,1))}distanceTo(e){return Math.sqrt(this.distanceToSquared(e))}distanceToSquared(e){let t=this.x-e.x,n=this.y-e.y;return t*t+n*n}manhattanDistanceTo(e){return Math.abs(this.x-e.x)+Math.abs(this.y-e.y)}setLength(e){return this.normalize().multiplyScalar(e)}lerp(e,t){return this.x+=(e.x-this.x)*t,this.y+=(e.y-this.y)*t,this}lerpVectors(e,t,n){return this.x=e.x+(t.x-e.x)*n,this.y=e.y+(t.y-e.y)*n,this}equals(e){return e.x===this.x&&e.y===this.y}fromArray(e,t=0){return this.x=e[t],this.y=e[t+1],this}toArray(e=[],t=0){return e[t]=this.x,e[t+1]=this.y,e}fromBufferAttribute(e,t){return this.x=e.getX(t),this.y=e.getY(t),this}rotateAround(e,t){let n=Math.cos(t),r=Math.sin(t),a=this.x-e.x,l=this.y-e.y;return this.x=a*n-l*r+e.x,this.y=a*r+l*n+e.y,this}random(){return this.x=Math.random(),this.y=Math.random(),this}*[Symbol.iterator](){yield this.x,yield this.y}},pi=class{constructor(e=0,t=0,n=0,r=1){this.isQuaternion=!0,this._x=e,this._y=t,this._z=n,this._w=r}static slerpFlat(e,t,n,r,a,l,c){let h=n[r+0],d=n[r+1],p=n[r+2],m=n[r+3],g=a[l+0],v=a[l+1],w=a[l+2],C=a[l+3];if(m!==C||h!==g||d!==v||p!==w){let b=h*g+d*v+p*w+m*C;b<0&&(g=-g,v=-v,w=-w,C=-C,b=-b);let y=1-c;if(b<.9995){let D=Math.acos(b),U=Math.sin(D);y=Math.sin(y*D)/U,c=Math.sin(c*D)/U,h=h*y+g*c,d=d*y+v*c,p=p*y+w*c,m=m*y+C*c}else{h=h*y+g*c,d=d*y+v*c,p=p*y+w*c,m=m*y+C*c;let D=1/Math.sqrt(h*h+d*d+p*p+m*m);h*=D,d*=D,p*=D,m*=D}}e[t]=h,e[t+1]=d,e[t+2]=p,e[t+3]=m}static multiplyQuaternionsFlat(e,t,n,r,a,l){let c=n[r],h=n[r+1],d=n[r+2],p=n[r+3],m=a[l],g=a[l+1],v=a[l+2],w=a[l+3];return e[t]=c*w+p*m+h*v-d*g,e[t+1]=h*w+p*g+d*m-c*v,e[t+2]=d*w+p*v+c*g-h*m,e[t+3]=p*w-c*m-h*g-d*v,e}get x(){return this._x}set x(e){this._x=e,this._onChangeCallback()}get y(){return this._y}set y(e){this._y=e,this._onChangeCallback()}get z(){return this._z}set z(e){this._z=e,this._onChangeCallback()}get w(){return this._w}set w(e){this._w=e,this._onChangeCallback()}set(e,t,n,r){return this._x=e,this._y=t,this._z=n,this._w=r,this._onChangeCallback(),this}clone(){return new this.constructor(this._x,this._y,this._z,this._w)}copy(e){return this._x=e.x,this._y=e.y,this._z=e.z,this._w=e.w,this._onChangeCallback(),this}setFromEuler(e,t=!0){let n=e._x,r=e._y,a=e._z,l=e._order,c=Math.cos,h=Math.sin,d=c(n/2),p=c(r/2),m=c(a/2),g=h(n/2),v=h(r/2),w=h(a/2);switch(l){case"XYZ":this._x=g*p*m+d*v*w,this._y=d*v*m-g*p*w,this._z=d*p*w+g*v*m,this._w=d*p*m-g*v*w;break;case"YXZ":this._x=g*p*m+d*v*w,this._y=d*v*m-g*p*w,this._z=d*p*w-g*v*m,this._w=d*p*m+g*v*w;break;case"ZXY":this._x=g*p*m-d*v*w,this._y=d*v*m+g*p*w,this._z=d*p*w+g*v*m,this._w=d*p*m-g*v*w;break;case"ZYX":this._x=g*p*m-d*v*w,this._y=d*v*m+g*p*w,this._z=d*p*w-g*v*m,this._w=d*p*m+g*v*w;break;case"YZX":this._x=g*p*m+d*v*w,this._y=d*v*m+g*p*w,this._z=d*p*w-g*v*m,this._w=d*p*m-g*v*w;break;case"XZY":this._x=g*p*m-d*v*w,this._y=d*v*m-g*p*w,this._z=d*p*w+g*v*m,this._w=d*p*m+g*v*w;break;default:ht("Quaternion: .setFromEuler() encountered an unknown order: "+l)}return t===!0&&this._onChangeCallback(),this}setFromAxisAngle(e,t){let n=t/2,r=Math.sin(n);return this._x=e.x*r,this._y=e.y*r,this._z=e.z*r,this._w=Math.cos(n),this._onChangeCallback(),this}setFromRotationMatrix(e){let t=e.elements,n=t[0],r=t[4],a=t[8],l=t[1],c=t[5],h=t[9],d=t[2],p=t[6],m=t[10],g=n+c+m;if(g>0){let v=.5/Math.sqrt(g+1);this._w=.25/v,this._x=(p-h)*v,this._y=(a-d)*v,this._z=(l-r)*v}else if(n>c&&n>m){let v=2*Math.sqrt(1+n-c-m);this._w=(p-h)/v,this._x=.25*v,this._y=(r+l)/v,this._z=(a+d)/v}else if(c>m){let v=2*Math.sqrt(1+c-n-m);this._w=(a-d)/v,this._x=(r+l)/v,this._y=.25*v,this._z=(h+p)/v}else{let v=2*Math.sqrt(1+m-n-c);this._w=(l-r)/v,this._x=(a+d)/v,this._y=(h+p)/v,this._z=.25*v}return this._onChangeCallback(),this}setFromUnitVectors(e,t){let n=e.dot(t)+1;return n<1e-8?(n=0,Math.abs(e.x)>Math.abs(e.z)?(this._x=-e.y,this._y=e.x,this._z=0,this._w=n):(this._x=0,this._y=-e.z,this._z=e.y,this._w=n)):(this._x=e.y*t.z-e.z*t.y,this._y=e.z*t.x-e.x*t.z,this._z=e.x*t.y-e.y*t.x,this._w=n),this.normalize()}angleTo(e){return 2*Math.acos(Math.abs(Ot(this.dot(e),-1,1)))}rotateTowards(e,t){let n=this.angleTo(e);if(n===0)return this;let r=Math.min(1,t/n);return this.slerp(e,r),this}identity(){return this.set(0,0,0,1)}invert(){return this.conjugate()}conjugate(){return this._x*=-1,this._y*=-1,this._z*=-1,this._onChangeCallback(),this}dot(e){return this._x*e._x+this._y*e._y+this._z*e._z+this._w*e._w}lengthSq(){return this._x*this._x+this._y*this._y+this._z*this._z+this._w*this._w}length(){return Math.sqrt(this._x*this._x+this._y*this._y+this._z*this._z+this._w*this._w)}normalize(){let e=this.length();return e===0?(this._x=0,this._y=0,this._z=0,this._w=1):(e=1/e,this._x=this._x*e,this._y=this._y*e,this._z=this._z*e,this._w=this._w*e),this._onChangeCallback(),this}multiply(e){return this.multiplyQuaternions(this,e)}premultiply(e){return this.multiplyQuaternions(e,this)}multiplyQuaternions(e,t){let n=e._x,r=e._y,a=e._z,l=e._w,c=t._x,h=t._y,d=t._z,p=t._w;return this._x=n*p+l*c+r*d-a*h,this._y=r*p+l*h+a*c-n*d,this._z=a*p+l*d+n*h-r*c,this._w=l*p-n*c-r*h-a*d,this._onChangeCallback(),this}slerp(e,t){let n=e._x,r=e._y,a=e._z,l=e._w,c=this.dot(e);c<0&&(n=-n,r=-r,a=-a,l=-l,c=-c);let h=1-t;if(c<.9995){let d=Math.acos(c),p=Math.sin(d);h=Math.sin(h*d)/p,t=Math.sin(t*d)/p,this._x=this._x*h+n*t,this._y=this._y*h+r*t,this._z=this._z*h+a*t,this._w=this._w*h+l*t,this._onChangeCallback()}else this._x=this._x*h+n*t,this._y=this._y*h+r*t,this._z=this._z*h+a*t,this._w=this._w*h+l*t,this.normalize();return this}slerpQuaternions(e,t,n){return this.copy(e).slerp(t,n)}random(){let e=2*Math.PI*Math.random(),t=2*Math.PI*Math.random(),n=Math.random(),r=Math.sqrt(1-n),a=Math.sqrt(n);return this.set(r*Math.sin(e),r*Math.cos(e),a*Math.sin(t),a*Math.cos(t))}equals(e){return e._x===this._x&&e._y===this._y&&e._z===this._z&&e._w===this._w}fromArray(e,t=0){return this._x=e[t],this._y=e[t+1],this._z=e[t+2],this._w=e[t+3],this._onChangeCallback(),this}toArray(e=[],t=0){return e[t]=this._x,e[t+1]=this._y,e[t+2]=this._z,e[t+3]=this._w,e}fromBufferAttribute(e,t){return this._x=e.getX(t),this._y=e.getY(t),this._z=e.getZ(t),this._w=e.getW(t),this._onChangeCallback(),this}toJSON(){return this.toArray()}_onChange(e){return this._onChangeCallback=e,this}_onChangeCallback(){}*[Symbol.iterator](){yield this._x,yield this._y,yield this._z,yield this._w}},re=class{static{this.prototype.isVector3=!0}constructor(e=0,t=0,n=0){this.x=e,this.y=t,this.z=n}set(e,t,n){return n===void 0&&(n=this.z),this.x=e,this.y=t,this.z=n,this}setScalar(e){return this.x=e,this.y=e,this.z=e,this}setX(e){return this.x=e,this}setY(e){return this.y=e,this}setZ(e){return this.z=e,this}setComponent(e,t){switch(e){case 0:this.x=t;break;case 1:this.y=t;break;case 2:this.z=t;break;default:throw new Error("THREE.Vector3: index is out of range: "+e)}return this}getComponent(e){switch(e){case 0:return this.x;case 1:return this.y;case 2:return this.z;default:throw new Error("THREE.Vector3: index is out of range: "+e)}}clone(){return new this.constructor(this.x,this.y,this.z)}copy(e){return this.x=e.x,this.y=e.y,this.z=e.z,this}add(e){return this.x+=e.x,this.y+=e.y,this.z+=e.z,this}addScalar(e){return this.x+=e,this.y+=e,this.z+=e,this}addVectors(e,t){return this.x=e.x+t.x,this.y=e.y+t.y,this.z=e.z+t.z,this}addScaledVector(e,t){return this.x+=e.x*t,this.y+=e.y*t,this.z+=e.z*t,this}sub(e){return this.x-=e.x,this.y-=e.y,this.z-=e.z,this}subScalar(e){return this.x-=e,this.y-=e,this.z-=e,this}subVectors(e,t){return this.x=e.x-t.x,this.y=e.y-t.y,this.z=e.z-t.z,this}multiply(e){return this.x*=e.x,this.y*=e.y,this.z*=e.z,this}multiplyScalar(e){return this.x*=e,this.y*=e,this.z*=e,this}multiplyVectors(e,t){return this.x=e.x*t.x,this.y=e.y*t.y,this.z=e.z*t.z,this}applyEuler(e){return this.applyQuaternion(vf.setFromEuler(e))}applyAxisAngle(e,t){return this.applyQuaternion(vf.setFromAxisAngle(e,t))}applyMatrix3(e){let t=this.x,n=this.y,r=this.z,a=e.elements;return this.x=a[0]*t+a[3]*n+a[6]*r,this.y=a[1]*t+a[4]*n+a[7]*r,this.z=a[2]*t+a[5]*n+a[8]*r,this}applyNormalMatrix(e){return this.applyMatrix3(e).normalize()}applyMatrix4(e){let t=this.x,n=this.y,r=this.z,a=e.elements,l=1/(a[3]*t+a[7]*n+a[11]*r+a[15]);return this.x=(a[0]*t+a[4]*n+a[8]*r+a[12])*l,this.y=(a[1]*t+a[5]*n+a[9]*r+a[13])*l,this.z=(a[2]*t+a[6]*n+a[10]*r+a[14])*l,this}applyQuaternion(e){let t=this.x,n=this.y,r=this.z,a=e.x,l=e.y,c=e.z,h=e.w,d=2*(l*r-c*n),p=2*(c*t-a*r),m=2*(a*n-l*t);return this.x=t+h*d+l*m-c*p,this.y=n+h*p+c*d-a*m,this.z=r+h*m+a*p-l*d,this}project(e){return this.applyMatrix4(e.matrixWorldInverse).applyMatrix4(e.projectionMatrix)}unproject(e){return this.applyMatrix4(e.projectionMatrixInverse).applyMatrix4(e.matrixWorld)}transformDirection(e){let t=this.x,n=this.y,r=this.z,a=e.elements;return this.x=a[0]*t+a[4]*n+a[8]*r,this.y=a[1]*t+a[5]*n+a[9]*r,this.z=a[2]*t+a[6]*n+a[10]*r,this.normalize()}divide(e){return this.x/=e.x,this.y/=e.y,this.z/=e.z,this}divideScalar(e){return this.multiplyScalar(1/e)}min(e){return this.x=Math.min(this.x,e.x),this.y=Math.min(this.y,e.y),this.z=Math.min(this.z,e.z),this}max(e){return this.x=Math.max(this.x,e.x),this.y=Math.max(this.y,e.y),this.z=Math.max(this.z,e.z),this}clamp(e,t){return this.x=Ot(this.x,e.x,t.x),this.y=Ot(this.y,e.y,t.y),this.z=Ot(this.z,e.z,t.z),this}clampScalar(e,t){return this.x=Ot(this.x,e,t),this.y=Ot(this.y,e,t),this.z=Ot(this.z,e,t),this}clampLength(e,t){let n=this.length();return this.divideScalar(n||1).multiplyScalar(Ot(n,e,t))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this.z=Math.floor(this.z),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this.z=Math.ceil(this.z),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this.z=Math.round(this.z),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this.z=Math.trunc(this.z),this}negate(){return this.x=-this.x,this.y=-this.y,this.z=-this.z,this}dot(e){return this.x*e.x+this.y*e.y+this.z*e.z}lengthSq(){return this.x*this.x+this.y*this.y+this.z*this.z}length(){return Math.sqrt(this.x*this.x+this.y*this.y+this.z*this.z)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)+Math.abs(this.z)}normalize(){return this.divideScalar(this.length()||1)}setLength(e){return this.normalize().multiplyScalar(e)}lerp(e,t){return this.x+=(e.x-this.x)*t,this.y+=(e.y-this.y)*t,this.z+=(e.z-this.z)*t,this}lerpVectors(e,t,n){return this.x=e.x+(t.x-e.x)*n,this.y=e.y+(t.y-e.y)*n,this.z=e.z+(t.z-e.z)*n,this}cross(e){return this.crossVectors(this,e)}crossVectors(e,t){let n=e.x,r=e.y,a=e.z,l=t.x,c=t.y,h=t.z;return this.x=r*h-a*c,this.y=a*l-n*h,this.z=n*c-r*l,this}projectOnVector(e){let t=e.lengthSq();if(t===0)return this.set(0,0,0);let n=e.dot(this)/t;return this.copy(e).multiplyScalar(n)}projectOnPlane(e){return Pu.copy(this).projectOnVector(e),this.sub(Pu)}reflect(e){return this.sub(Pu.copy(e).multiplyScalar(2*this.dot(e)))}angleTo(e){let t=Math.sqrt(this.lengthSq()*e.lengthSq());if(t===0)return Math.PI/2;let n=this.dot(e)/t;return Math.acos(Ot(n,-1,1))}distanceTo(e){return Math.sqrt(this.distanceToSquared(e))}distanceToSquared(e){let t=this.x-e.x,n=this.y-e.y,r=this.z-e.z;return t*t+n*n+r*r}manhattanDistanceTo(e){return Math.abs(this.x-e.x)+Math.abs(this.y-e.y)+Math.abs(this.z-e.z)}setFromSpherical(e){return this.setFromSphericalCoords(e.radius,e.phi,e.theta)}setFromSphericalCoords(e,t,n){let r=Math.sin(t)*e;return this.x=r*Math.sin(n),this.y=Math.cos(t)*e,this.z=r*Math.cos(n),this}setFromCylindrical(e){return this.setFromCylindricalCoords(e.radius,e.theta,e.y)}setFromCylindricalCoords(e,t,n){return this.x=e*Math.sin(t),this.y=n,this.z=e*Math.cos(t),this}setFromMatrixPosition(e){let t=e.elements;return this.x=t[12],this.y=t[13],this.z=t[14],this}setFromMatrixScale(e){let t=this.setFromMatrixColumn(e,0).length(),n=this.setFromMatrixColumn(e,1).length(),r=this.setFromMatrixColumn(e,2).length();return this.x=t,this.y=n,this.z=r,this}setFromMatrixColumn(e,t){return this.fromArray(e.elements,t*4)}setFromMatrix3Column(e,t){return this.fromArray(e.elements,t*3)}setFromEuler(e){return this.x=e._x,this.y=e._y,this.z=e._z,this}setFromColor(e){return this.x=e.r,this.y=e.g,this.z=e.b,this}equals(e){return e.x===this.x&&e.y===this.y&&e.z===this.z}fromArray(e,t=0){return this.x=e[t],this.y=e[t+1],this.z=e[t+2],this}toArray(e=[],t=0){return e[t]=this.x,e[t+1]=this.y,e[t+2]=this.z,e}fromBufferAttribute(e,t){return this.x=e.getX(t),this.y=e.getY(t),this.z=e.getZ(t),this}random(){return this.x=Math.random(),this.y=Math.random(),this.z=Math.random(),this}randomDirection(){let e=Math.random()*Math.PI*2,t=Math.random()*2-1,n=Math.sqrt(1-t*t);return this.x=n*Math.cos(e),this.y=t,this.z=n*Math.sin(e),this}*[Symbol.iterator](){yield this.x,yield this.y,yield this.z}},Pu=new re,vf=new pi,yt=class{static{this.prototype.isMatrix3=!0}constructor(e,t,n,r,a,l,c,h,d){this.elements=[1,0,0,0,1,0,0,0,1],e!==void 0&&this.set(e,t,n,r,a,l,c,h,d)}set(e,t,n,r,a,l,c,h,d){let p=this.elements;return p[0]=e,p[1]=r,p[2]=c,p[3]=t,p[4]=a,p[5]=h,p[6]=n,p[7]=l,p[8]=d,this}identity(){return this.set(1,0,0,0,1,0,0,0,1),this}copy(e){let t=this.elements,n=e.elements;return t[0]=n[0],t[1]=n[1],t[2]=n[2],t[3]=n[3],t[4]=n[4],t[5]=n[5],t[6]=n[6],t[7]=n[7],t[8]=n[8],this}extractBasis(e,t,n){return e.setFromMatrix3Column(this,0),t.setFromMatrix3Column(this,1),n.setFromMatrix3Column(this,2),this}setFromMatrix4(e){let t=e.elements;return this.set(t[0],t[4],t[8],t[1],t[5],t[9],t[2],t[6],t[10]),this}multiply(e){return this.multiplyMatrices(this,e)}premultiply(e){return this.multiplyMatrices(e,this)}multiplyMatrices(e,t){let n=e.elements,r=t.elements,a=this.elements,l=n[0],c=n[3],h=n[6],d=n[1],p=n[4],m=n[7],g=n[2],v=n[5],w=n[8],C=r[0],b=r[3],y=r[6],D=r[1],U=r[4],F=r[7],k=r[2],L=r[5],E=r[8];return a[0]=l*C+c*D+h*k,a[3]=l*b+c*U+h*L,a[6]=l*y+c*F+h*E,a[1]=d*C+p*D+m*k,a[4]=d*b+p*U+m*L,a[7]=d*y+p*F+m*E,a[2]=g*C+v*D+w*k,a[5]=g*b+v*U+w*L,a[8]=g*y+v*F+w*E,this}multiplyScalar(e){let t=this.elements;return t[0]*=e,t[3]*=e,t[6]*=e,t[1]*=e,t[4]*=e,t[7]*=e,t[2]*=e,t[5]*=e,t[8]*=e,this}determinant(){let e=this.elements,t=e[0],n=e[1],r=e[2],a=e[3],l=e[4],c=e[5],h=e[6],d=e[7],p=e[8];return t*l*p-t*c*d-n*a*p+n*c*h+r*a*d-r*l*h}invert(){let e=this.elements,t=e[0],n=e[1],r=e[2],a=e[3],l=e[4],c=e[5],h=e[6],d=e[7],p=e[8],m=p*l-c*d,g=c*h-p*a,v=d*a-l*h,w=t*m+n*g+r*v;if(w===0)return this.set(0,0,0,0,0,0,0,0,0);let C=1/w;return e[0]=m*C,e[1]=(r*d-p*n)*C,e[2]=(c*n-r*l)*C,e[3]=g*C,e[4]=(p*t-r*h)*C,e[5]=(r*a-c*t)*C,e[6]=v*C,e[7]=(n*h-d*t)*C,e[8]=(l*t-n*a)*C,this}transpose(){let e,t=this.elements;return e=t[1],t[1]=t[3],t[3]=e,e=t[2],t[2]=t[6],t[6]=e,e=t[5],t[5]=t[7],t[7]=e,this}getNormalMatrix(e){return this.setFromMatrix4(e).invert().transpose()}transposeIntoArray(e){let t=this.elements;return e[0]=t[0],e[1]=t[3],e[2]=t[6],e[3]=t[1],e[4]=t[4],e[5]=t[7],e[6]=t[2],e[7]=t[5],e[8]=t[8],this}setUvTransform(e,t,n,r,a,l,c){let h=Math.cos(a),d=Math.sin(a);return this.set(n*h,n*d,-n*(h*l+d*c)+l+e,-r*d,r*h,-r*(-d*l+h*c)+c+t,0,0,1),this}scale(e,t){return ya("Matrix3: .scale() is deprecated. Use .makeScale() instead."),this.premultiply(Iu.makeScale(e,t)),this}rotate(e){return ya("Matrix3: .rotate() is deprecated. Use .makeRotation() instead."),this.premultiply(Iu.makeRotation(-e)),this}translate(e,t){return ya("Matrix3: .translate() is deprecated. Use .makeTranslation() instead."),this.premultiply(Iu.makeTranslation(e,t)),this}makeTranslation(e,t){return e.isVector2?this.set(1,0,e.x,0,1,e.y,0,0,1):this.set(1,0,e,0,1,t,0,0,1),this}makeRotation(e){let t=Math.cos(e),n=Math.sin(e);return this.set(t,-n,0,n,t,0,0,0,1),this}makeScale(e,t){return this.set(e,0,0,0,t,0,0,0,1),this}equals(e){let t=this.elements,n=e.elements;for(let r=0;r<9;r++)if(t[r]!==n[r])return!1;return!0}fromArray(e,t=0){for(let n=0;n<9;n++)this.elements[n]=e[n+t];return this}toArray(e=[],t=0){let n=this.elements;return e[t]=n[0],e[t+1]=n[1],e[t+2]=n[2],e[t+3]=n[3],e[t+4]=n[4],e[t+5]=n[5],e[t+6]=n[6],e[t+7]=n[7],e[t+8]=n[8],e}clone(){return new this.constructor().fromArray(this.elements)}},Iu=new yt,yf=new yt().set(.4123908,.3575843,.1804808,.212639,.7151687,.0721923,.0193308,.1191948,.9505322),xf=new yt().set(3.2409699,-1.5373832,-.4986108,-.9692436,1.8759675,.0415551,.0556301,-.203977,1.0569715);function Ux(){let i={enabled:!0,workingColorSpace:wa,spaces:{},convert:function(r,a,l){return this.enabled===!1||a===l||!a||!l||(this.spaces[a].transfer===Jt&&(r.r=Ki(r.r),r.g=Ki(r.g),r.b=Ki(r.b)),this.spaces[a].primaries!==this.spaces[l].primaries&&(r.applyMatrix3(this.spaces[a].toXYZ),r.applyMatrix3(this.spaces[l].fromXYZ)),this.spaces[l].transfer===Jt&&(r.r=Is(r.r),r.g=Is(r.g),r.b=Is(r.b))),r},workingToColorSpace:function(r,a){return this.convert(r,this.workingColorSpace,a)},colorSpaceToWorking:function(r,a){return this.convert(r,a,this.workingColorSpace)},getPrimaries:function(r){return this.spaces[r].primaries},getTransfer:function(r){return r===ar?Ma:this.spaces[r].transfer},getToneMappingMode:function(r){return this.spaces[r].outputColorSpaceConfig.toneMappingMode||"standard"},getLuminanceCoefficients:function(r,a=this.workingColorSpace){return r.fromArray(this.spaces[a].luminanceCoefficients)},define:function(r){Object.assign(this.spaces,r)},_getMatrix:function(r,a,l){return r.copy(this.spaces[l].fromXYZ).multiply(this.spaces[a].toXYZ)},_getDrawingBufferColorSpace:function(r){return this.spaces[r].outputColorSpaceConfig.drawingBufferColorSpace},_getUnpackColorSpace:function(r=this.workingColorSpace){return this.spaces[r].workingColorSpaceConfig.unpackColorSpace}},e=[.64,.33,.3,.6,.15,.06],t=[.2126,.7152,.0722],n=[.3127,.329];return i.define({[wa]:{primaries:e,whitePoint:n,transfer:Ma,toXYZ:yf,fromXYZ:xf,luminanceCoefficients:t,workingColorSpaceConfig:{unpackColorSpace:Nn},outputColorSpaceConfig:{drawingBufferColorSpace:Nn}},[Nn]:{primaries:e,whitePoint:n,transfer:Jt,toXYZ:yf,fromXYZ:xf,luminanceCoefficients:t,outputColorSpaceConfig:{drawingBufferColorSpace:Nn}}}),i}var Ut=Ux();function Ki(i){return i<.04045?i*.0773993808:Math.pow(i*.9478672986+.0521327014,2.4)}function Is(i){return i<.0031308?i*12.92:1.055*Math.pow(i,.41666)-.055}var _s,ml=class{static getDataURL(e,t="image/png"){if(/^data:/i.test(e.src)||typeof HTMLCanvasElement>"u")return e.src;let n;if(e instanceof HTMLCanvasElement)n=e;else{_s===void 0&&(_s=Ea("canvas")),_s.width=e.width,_s.height=e.height;let r=_s.getContext("2d");e instanceof ImageData?r.putImageData(e,0,0):r.drawImage(e,0,0,e.width,e.height),n=_s}return n.toDataURL(t)}static sRGBToLinear(e){if(typeof HTMLImageElement<"u"&&e instanceof HTMLImageElement||typeof HTMLCanvasElement<"u"&&e instanceof HTMLCanvasElement||typeof ImageBitmap<"u"&&e instanceof ImageBitmap){let t=Ea("canvas");t.width=e.width,t.height=e.height;let n=t.getContext("2d");n.drawImage(e,0,0,e.width,e.height);let r=n.getImageData(0,0,e.width,e.height),a=r.data;for(let l=0;l<a.length;l++)a[l]=Ki(a[l]/255)*255;return n.putImageData(r,0,0),t}else if(e.data){let t=e.data.slice(0);for(let n=0;n<t.length;n++)t instanceof Uint8Array||t instanceof Uint8ClampedArray?t[n]=Math.floor(Ki(t[n]/255)*255):t[n]=Ki(t[n]);return{data:t,width:e.width,height:e.height}}else return ht("ImageUtils.sRGBToLinear(): Unsupported image type. No color space conversion applied."),e}},Ox=0,Os=class{constructor(e=null){this.isTextureSource=!0,Object.defineProperty(this,"id",{value:Ox++}),this.uuid=Xs(),this.data=e,this.dataReady=!0,this.version=0}getSize(e){let t=this.data;return typeof HTMLVideoElement<"u"&&t instanceof HTMLVideoElement?e.set(t.videoWidth,t.videoHeight,0):typeof VideoFrame<"u"&&t instanceof VideoFrame?e.set(t.displayWidth,t.displayHeight,0):t!==null?e.set(t.width||0,t.height||0,t.depth||0):e.set(0,0,0),e}set needsUpdate(e){e===!0&&this.version++}toJSON(e){let t=e===void 0||typeof e=="string";if(!t&&e.images[this.uuid]!==void 0)return e.images[this.uuid];let n={uuid:this.uuid,url:""},r=this.data;if(r!==null){let a;if(Array.isArray(r)){a=[];for(let l=0,c=r.length;l<c;l++)r[l].isDataTexture?a.push(Lu(r[l].image)):a.push(Lu(r[l]))}else a=Lu(r);n.url=a}return t||(e.images[this.uuid]=n),n}};function Lu(i){return typeof HTMLImageElement<"u"&&i instanceof HTMLImageElement||typeof HTMLCanvasElement<"u"&&i instanceof HTMLCanvasElement||typeof ImageBitmap<"u"&&i instanceof ImageBitmap?ml.getDataURL(i):i.data?{data:Array.from(i.data),width:i.width,height:i.height,type:i.data.constructor.name}:(ht("Texture: Unable to serialize Texture."),{})}var Bx=0,Du=new re,Wn=class i extends Fi{constructor(e=i.DEFAULT_IMAGE,t=i.DEFAULT_MAPPING,n=Di,r=Di,a=Hn,l=rr,c=Ai,h=Jn,d=i.DEFAULT_ANISOTROPY,p=ar){super(),this.isTexture=!0,Object.defineProperty(this,"id",{value:Bx++}),this.uuid=Xs(),this.name="",this.source=new Os(e),this.mipmaps=[],this.mapping=t,this.channel=0,this.wrapS=n,this.wrapT=r,this.magFilter=a,this.minFilter=l,this.anisotropy=d,this.format=c,this.internalFormat=null,this.type=h,this.offset=new Lt(0,0),this.repeat=new Lt(1,1),this.center=new Lt(0,0),this.rotation=0,this.matrixAutoUpdate=!0,this.matrix=new yt,this.generateMipmaps=!0,this.mipmapsAutoUpdate=!0,this.premultiplyAlpha=!1,this.flipY=!0,this.unpackAlignment=4,this.colorSpace=p,this.userData={},this.updateRanges=[],this.version=0,this.onUpdate=null,this.renderTarget=null,this.isRenderTargetTexture=!1,this.isArrayTexture=!!(e&&e.depth&&e.depth>1),this.pmremVersion=0,this.isPMREMTexture=!1,this.normalized=!1}get width(){return this.source.getSize(Du).x}get height(){return this.source.getSize(Du).y}get depth(){return this.source.getSize(Du).z}get image(){return this.source.data}set image(e){this.source.data=e}updateMatrix(){this.matrix.setUvTransform(this.offset.x,this.offset.y,this.repeat.x,this.repeat.y,this.rotation,this.center.x,this.center.y)}addUpdateRange(e,t){this.updateRanges.push({start:e,count:t})}clearUpdateRanges(){this.updateRanges.length=0}clone(){return new this.constructor().copy(this)}copy(e){return this.name=e.name,this.source=e.source,this.mipmaps=e.mipmaps.slice(0),this.mapping=e.mapping,this.channel=e.channel,this.wrapS=e.wrapS,this.wrapT=e.wrapT,this.magFilter=e.magFilter,this.minFilter=e.minFilter,this.anisotropy=e.anisotropy,this.format=e.format,this.internalFormat=e.internalFormat,this.type=e.type,this.normalized=e.normalized,this.offset.copy(e.offset),this.repeat.copy(e.repeat),this.center.copy(e.center),this.rotation=e.rotation,this.matrixAutoUpdate=e.matrixAutoUpdate,this.matrix.copy(e.matrix),this.generateMipmaps=e.generateMipmaps,this.mipmapsAutoUpdate=e.mipmapsAutoUpdate,this.premultiplyAlpha=e.premultiplyAlpha,this.flipY=e.flipY,this.unpackAlignment=e.unpackAlignment,this.colorSpace=e.colorSpace,this.renderTarget=e.renderTarget,this.isRenderTargetTexture=e.isRenderTargetTexture,this.isPMREMTexture=e.isPMREMTexture,this.isArrayTexture=e.isArrayTexture,this.userData=JSON.parse(JSON.stringify(e.userData)),this.needsUpdate=!0,this}setValues(e){for(let t in e){let n=e[t];if(n===void 0){ht(`Texture.setValues(): parameter '${t}' has value of undefined.`);continue}let r=this[t];if(r===void 0){ht(`Texture.setValues(): property '${t}' does not exist.`);continue}r&&n&&r.isVector2&&n.isVector2||r&&n&&r.isVector3&&n.isVector3||r&&n&&r.isMatrix3&&n.isMatrix3?r.copy(n):this[t]=n}}toJSON(e){let t=e===void 0||typeof e=="string";if(!t&&e.textures[this.uuid]!==void 0)return e.textures[this.uuid];let n={metadata:{version:4.7,type:"Texture",generator:"Texture.toJSON"},uuid:this.uuid,name:this.name,image:this.source.toJSON(e).uuid,mapping:this.mapping,channel:this.channel,repeat:[this.repeat.x,this.repeat.y],offset:[this.offset.x,this.offset.y],center:[this.center.x,this.center.y],rotation:this.rotation,wrap:[this.wrapS,this.wrapT],format:this.format,internalFormat:this.internalFormat,type:this.type,normalized:this.normalized,colorSpace:this.colorSpace,minFilter:this.minFilter,magFilter:this.magFilter,anisotropy:this.anisotropy,flipY:this.flipY,generateMipmaps:this.generateMipmaps,mipmapsAutoUpdate:this.mipmapsAutoUpdate,premultiplyAlpha:this.premultiplyAlpha,unpackAlignment:this.unpackAlignment};return Object.keys(this.userData).length>0&&(n.userData=this.userData),t||(e.textures[this.uuid]=n),n}dispose(){this.dispatchEvent({type:"dispose"})}transformUv(e){if(this.mapping!==xh)return e;if(e.applyMatrix3(this.matrix),e.x<0||e.x>1)switch(this.wrapS){case Ds:e.x=e.x-Math.floor(e.x);break;case Di:e.x=e.x<0?0:1;break;case fl:Math.abs(Math.floor(e.x)%2)===1?e.x=Math.ceil(e.x)-e.x:e.x=e.x-Math.floor(e.x);break}if(e.y<0||e.y>1)switch(this.wrapT){case Ds:e.y=e.y-Math.floor(e.y);break;case Di:e.y=e.y<0?0:1;break;case fl:Math.abs(Math.floor(e.y)%2)===1?e.y=Math.ceil(e.y)-e.y:e.y=e.y-Math.floor(e.y);break}return this.flipY&&(e.y=1-e.y),e}set needsUpdate(e){e===!0&&(this.version++,this.source.needsUpdate=!0)}set needsPMREMUpdate(e){e===!0&&this.pmremVersion++}};Wn.DEFAULT_IMAGE=null;Wn.DEFAULT_MAPPING=xh;Wn.DEFAULT_ANISOTROPY=1;var fn=class{static{this.prototype.isVector4=!0}constructor(e=0,t=0,n=0,r=1){this.x=e,this.y=t,this.z=n,this.w=r}get width(){return this.z}set width(e){this.z=e}get height(){return this.w}set height(e){this.w=e}set(e,t,n,r){return this.x=e,this.y=t,this.z=n,this.w=r,this}setScalar(e){return this.x=e,this.y=e,this.z=e,this.w=e,this}setX(e){return this.x=e,this}setY(e){return this.y=e,this}setZ(e){return this.z=e,this}setW(e){return this.w=e,this}setComponent(e,t){switch(e){case 0:this.x=t;break;case 1:this.y=t;break;case 2:this.z=t;break;case 3:this.w=t;break;default:throw new Error("THREE.Vector4: index is out of range: "+e)}return this}getComponent(e){switch(e){case 0:return this.x;case 1:return this.y;case 2:return this.z;case 3:return this.w;default:throw new Error("THREE.Vector4: index is out of range: "+e)}}clone(){return new this.constructor(this.x,this.y,this.z,this.w)}copy(e){return this.x=e.x,this.y=e.y,this.z=e.z,this.w=e.w!==void 0?e.w:1,this}add(e){return this.x+=e.x,this.y+=e.y,this.z+=e.z,this.w+=e.w,this}addScalar(e){return this.x+=e,this.y+=e,this.z+=e,this.w+=e,this}addVectors(e,t){return this.x=e.x+t.x,this.y=e.y+t.y,this.z=e.z+t.z,this.w=e.w+t.w,this}addScaledVector(e,t){return this.x+=e.x*t,this.y+=e.y*t,this.z+=e.z*t,this.w+=e.w*t,this}sub(e){return this.x-=e.x,this.y-=e.y,this.z-=e.z,this.w-=e.w,this}subScalar(e){return this.x-=e,this.y-=e,this.z-=e,this.w-=e,this}subVectors(e,t){return this.x=e.x-t.x,this.y=e.y-t.y,this.z=e.z-t.z,this.w=e.w-t.w,this}multiply(e){return this.x*=e.x,this.y*=e.y,this.z*=e.z,this.w*=e.w,this}multiplyScalar(e){return this.x*=e,this.y*=e,this.z*=e,this.w*=e,this}applyMatrix4(e){let t=this.x,n=this.y,r=this.z,a=this.w,l=e.elements;return this.x=l[0]*t+l[4]*n+l[8]*r+l[12]*a,this.y=l[1]*t+l[5]*n+l[9]*r+l[13]*a,this.z=l[2]*t+l[6]*n+l[10]*r+l[14]*a,this.w=l[3]*t+l[7]*n+l[11]*r+l[15]*a,this}divide(e){return this.x/=e.x,this.y/=e.y,this.z/=e.z,this.w/=e.w,this}divideScalar(e){return this.multiplyScalar(1/e)}setAxisAngleFromQuaternion(e){this.w=2*Math.acos(e.w);let t=Math.sqrt(1-e.w*e.w);return t<1e-4?(this.x=1,this.y=0,this.z=0):(this.x=e.x/t,this.y=e.y/t,this.z=e.z/t),this}setAxisAngleFromRotationMatrix(e){let t,n,r,a,h=e.elements,d=h[0],p=h[4],m=h[8],g=h[1],v=h[5],w=h[9],C=h[2],b=h[6],y=h[10];if(Math.abs(p-g)<.01&&Math.abs(m-C)<.01&&Math.abs(w-b)<.01){if(Math.abs(p+g)<.1&&Math.abs(m+C)<.1&&Math.abs(w+b)<.1&&Math.abs(d+v+y-3)<.1)return this.set(1,0,0,0),this;t=Math.PI;let U=(d+1)/2,F=(v+1)/2,k=(y+1)/2,L=(p+g)/4,E=(m+C)/4,N=(w+b)/4;return U>F&&U>k?U<.01?(n=0,r=.707106781,a=.707106781):(n=Math.sqrt(U),r=L/n,a=E/n):F>k?F<.01?(n=.707106781,r=0,a=.707106781):(r=Math.sqrt(F),n=L/r,a=N/r):k<.01?(n=.707106781,r=.707106781,a=0):(a=Math.sqrt(k),n=E/a,r=N/a),this.set(n,r,a,t),this}let D=Math.sqrt((b-w)*(b-w)+(m-C)*(m-C)+(g-p)*(g-p));return Math.abs(D)<.001&&(D=1),this.x=(b-w)/D,this.y=(m-C)/D,this.z=(g-p)/D,this.w=Math.acos((d+v+y-1)/2),this}setFromMatrixPosition(e){let t=e.elements;return this.x=t[12],this.y=t[13],this.z=t[14],this.w=t[15],this}min(e){return this.x=Math.min(this.x,e.x),this.y=Math.min(this.y,e.y),this.z=Math.min(this.z,e.z),this.w=Math.min(this.w,e.w),this}max(e){return this.x=Math.max(this.x,e.x),this.y=Math.max(this.y,e.y),this.z=Math.max(this.z,e.z),this.w=Math.max(this.w,e.w),this}clamp(e,t){return this.x=Ot(this.x,e.x,t.x),this.y=Ot(this.y,e.y,t.y),this.z=Ot(this.z,e.z,t.z),this.w=Ot(this.w,e.w,t.w),this}clampScalar(e,t){return this.x=Ot(this.x,e,t),this.y=Ot(this.y,e,t),this.z=Ot(this.z,e,t),this.w=Ot(this.w,e,t),this}clampLength(e,t){let n=this.length();return this.divideScalar(n||1).multiplyScalar(Ot(n,e,t))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this.z=Math.floor(this.z),this.w=Math.floor(this.w),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this.z=Math.ceil(this.z),this.w=Math.ceil(this.w),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this.z=Math.round(this.z),this.w=Math.round(this.w),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this.z=Math.trunc(this.z),this.w=Math.trunc(this.w),this}negate(){return this.x=-this.x,this.y=-this.y,this.z=-this.z,this.w=-this.w,this}dot(e){return this.x*e.x+this.y*e.y+this.z*e.z+this.w*e.w}lengthSq(){return this.x*this.x+this.y*this.y+this.z*this.z+this.w*this.w}length(){return Math.sqrt(this.x*this.x+this.y*this.y+this.z*this.z+this.w*this.w)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)+Math.abs(this.z)+Math.abs(this.w)}normalize(){return this.divideScalar(this.length()||1)}setLength(e){return this.normalize().multiplyScalar(e)}lerp(e,t){return this.x+=(e.x-this.x)*t,this.y+=(e.y-this.y)*t,this.z+=(e.z-this.z)*t,this.w+=(e.w-this.w)*t,this}lerpVectors(e,t,n){return this.x=e.x+(t.x-e.x)*n,this.y=e.y+(t.y-e.y)*n,this.z=e.z+(t.z-e.z)*n,this.w=e.w+(t.w-e.w)*n,this}equals(e){return e.x===this.x&&e.y===this.y&&e.z===this.z&&e.w===this.w}fromArray(e,t=0){return this.x=e[t],this.y=e[t+1],this.z=e[t+2],this.w=e[t+3],this}toArray(e=[],t=0){return e[t]=this.x,e[t+1]=this.y,e[t+2]=this.z,e[t+3]=this.w,e}fromBufferAttribute(e,t){return this.x=e.getX(t),this.y=e.getY(t),this.z=e.getZ(t),this.w=e.getW(t),this}random(){return this.x=Math.random(),this.y=Math.random(),this.z=Math.random(),this.w=Math.random(),this}*[Symbol.iterator](){yield this.x,yield this.y,yield this.z,yield this.w}},gl=class extends Fi{constructor(e=1,t=1,n={}){super(),n=Object.assign({generateMipmaps:!1,internalFormat:null,minFilter:Hn,depthBuffer:!0,stencilBuffer:!1,resolveColorBuffer:!0,resolveDepthBuffer:!0,resolveStencilBuffer:!0,storeMultisampledColorBuffer:!0,storeMultisampledDepthBuffer:!0,storeMultisampledStencilBuffer:!0,depthTexture:null,samples:0,count:1,depth:1,multiview:!1,useArrayDepthTexture:!1},n),this.isRenderTarget=!0,this.width=e,this.height=t,this.depth=n.depth,this.scissor=new fn(0,0,e,t),this.scissorTest=!1,this.viewport=new fn(0,0,e,t),this.textures=[];let r=n.count;for(let a=0;a<r;a++)this.textures[a]=new Wn({width:e,height:t,depth:n.depth}),this.textures[a].isRenderTargetTexture=!0,this.textures[a].renderTarget=this;this._setTextureOptions(n),this.depthBuffer=n.depthBuffer,this.stencilBuffer=n.stencilBuffer,this.resolveColorBuffer=n.resolveColorBuffer,this.resolveDepthBuffer=n.resolveDepthBuffer,this.resolveStencilBuffer=n.resolveStencilBuffer,this.storeMultisampledColorBuffer=n.storeMultisampledColorBuffer,this.storeMultisampledDepthBuffer=n.storeMultisampledDepthBuffer,this.storeMultisampledStencilBuffer=n.storeMultisampledStencilBuffer,this._depthTexture=null,this.depthTexture=n.depthTexture,this.samples=n.samples,this.multiview=n.multiview,this.useArrayDepthTexture=n.useArrayDepthTexture}_setTextureOptions(e={}){let t={minFilter:Hn,generateMipmaps:!1,flipY:!1,internalFormat:null};e.mapping!==void 0&&(t.mapping=e.mapping),e.wrapS!==void 0&&(t.wrapS=e.wrapS),e.wrapT!==void 0&&(t.wrapT=e.wrapT),e.wrapR!==void 0&&(t.wrapR=e.wrapR),e.magFilter!==void 0&&(t.magFilter=e.magFilter),e.minFilter!==void 0&&(t.minFilter=e.minFilter),e.format!==void 0&&(t.format=e.format),e.type!==void 0&&(t.type=e.type),e.anisotropy!==void 0&&(t.anisotropy=e.anisotropy),e.colorSpace!==void 0&&(t.colorSpace=e.colorSpace),e.flipY!==void 0&&(t.flipY=e.flipY),e.generateMipmaps!==void 0&&(t.generateMipmaps=e.generateMipmaps),e.mipmapsAutoUpdate!==void 0&&(t.mipmapsAutoUpdate=e.mipmapsAutoUpdate),e.internalFormat!==void 0&&(t.internalFormat=e.internalFormat);for(let n=0;n<this.textures.length;n++)this.textures[n].setValues(t)}get texture(){return this.textures[0]}set texture(e){this.textures[0]=e}set depthTexture(e){this._depthTexture!==null&&this._depthTexture.renderTarget===this&&(this._depthTexture.renderTarget=null),e!==null&&e.renderTarget===null&&(e.renderTarget=this),this._depthTexture=e}get depthTexture(){return this._depthTexture}setSize(e,t,n=1){if(this.width!==e||this.height!==t||this.depth!==n){this.width=e,this.height=t,this.depth=n;for(let r=0,a=this.textures.length;r<a;r++)this.textures[r].image.width=e,this.textures[r].image.height=t,this.textures[r].image.depth=n,this.textures[r].isData3DTexture!==!0&&(this.textures[r].isArrayTexture=this.textures[r].image.depth>1);this.dispose()}this.viewport.set(0,0,e,t),this.scissor.set(0,0,e,t)}clone(){return new this.constructor().copy(this)}copy(e){this.width=e.width,this.height=e.height,this.depth=e.depth,this.scissor.copy(e.scissor),this.scissorTest=e.scissorTest,this.viewport.copy(e.viewport),this.textures.length=0;for(let t=0,n=e.textures.length;t<n;t++){this.textures[t]=e.textures[t].clone(),this.textures[t].isRenderTargetTexture=!0,this.textures[t].renderTarget=this;let r=Object.assign({},e.textures[t].image);this.textures[t].source=new Os(r)}if(this.depthBuffer=e.depthBuffer,this.stencilBuffer=e.stencilBuffer,this.resolveColorBuffer=e.resolveColorBuffer,this.resolveDepthBuffer=e.resolveDepthBuffer,this.resolveStencilBuffer=e.resolveStencilBuffer,this.storeMultisampledColorBuffer=e.storeMultisampledColorBuffer,this.storeMultisampledDepthBuffer=e.storeMultisampledDepthBuffer,this.storeMultisampledStencilBuffer=e.storeMultisampledStencilBuffer,e.depthTexture!==null)if(e.depthTexture.renderTarget===e){let t=e.depthTexture.clone();t.renderTarget=null,this.depthTexture=t}else this.depthTexture=e.depthTexture;else this.depthTexture=null;return this.samples=e.samples,this.multiview=e.multiview,this.useArrayDepthTexture=e.useArrayDepthTexture,this}dispose(){this.dispatchEvent({type:"dispose"})}},ii=class extends gl{constructor(e=1,t=1,n={}){super(e,t,n),this.isWebGLRenderTarget=!0}},Ta=class extends Wn{constructor(e=null,t=1,n=1,r=1){super(null),this.isDataArrayTexture=!0,this.image={data:e,width:t,height:n,depth:r},this.magFilter=Tn,this.minFilter=Tn,this.wrapR=Di,this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1,this.layerUpdates=new Set}copy(e){return super.copy(e),this.wrapR=e.wrapR,this}addLayerUpdate(e){this.layerUpdates.add(e)}clearLayerUpdates(){this.layerUpdates.clear()}};var _l=class extends Wn{constructor(e=null,t=1,n=1,r=1){super(null),this.isData3DTexture=!0,this.image={data:e,width:t,height:n,depth:r},this.magFilter=Tn,this.minFilter=Tn,this.wrapR=Di,this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1}copy(e){return super.copy(e),this.wrapR=e.wrapR,this}};var Yt=class i{static{this.prototype.isMatrix4=!0}constructor(e,t,n,r,a,l,c,h,d,p,m,g,v,w,C,b){this.elements=[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],e!==void 0&&this.set(e,t,n,r,a,l,c,h,d,p,m,g,v,w,C,b)}set(e,t,n,r,a,l,c,h,d,p,m,g,v,w,C,b){let y=this.elements;return y[0]=e,y[4]=t,y[8]=n,y[12]=r,y[1]=a,y[5]=l,y[9]=c,y[13]=h,y[2]=d,y[6]=p,y[10]=m,y[14]=g,y[3]=v,y[7]=w,y[11]=C,y[15]=b,this}identity(){return this.set(1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1),this}clone(){return new i().fromArray(this.elements)}copy(e){let t=this.elements,n=e.elements;return t[0]=n[0],t[1]=n[1],t[2]=n[2],t[3]=n[3],t[4]=n[4],t[5]=n[5],t[6]=n[6],t[7]=n[7],t[8]=n[8],t[9]=n[9],t[10]=n[10],t[11]=n[11],t[12]=n[12],t[13]=n[13],t[14]=n[14],t[15]=n[15],this}copyPosition(e){let t=this.elements,n=e.elements;return t[12]=n[12],t[13]=n[13],t[14]=n[14],this}setFromMatrix3(e){let t=e.elements;return this.set(t[0],t[3],t[6],0,t[1],t[4],t[7],0,t[2],t[5],t[8],0,0,0,0,1),this}extractBasis(e,t,n){return this.determinantAffine()===0?(e.set(1,0,0),t.set(0,1,0),n.set(0,0,1),this):(e.setFromMatrixColumn(this,0),t.setFromMatrixColumn(this,1),n.setFromMatrixColumn(this,2),this)}makeBasis(e,t,n){return this.set(e.x,t.x,n.x,0,e.y,t.y,n.y,0,e.z,t.z,n.z,0,0,0,0,1),this}extractRotation(e){if(e.determinantAffine()===0)return this.identity();let t=this.elements,n=e.elements,r=1/vs.setFromMatrixColumn(e,0).length(),a=1/vs.setFromMatrixColumn(e,1).length(),l=1/vs.setFromMatrixColumn(e,2).length();return t[0]=n[0]*r,t[1]=n[1]*r,t[2]=n[2]*r,t[3]=0,t[4]=n[4]*a,t[5]=n[5]*a,t[6]=n[6]*a,t[7]=0,t[8]=n[8]*l,t[9]=n[9]*l,t[10]=n[10]*l,t[11]=0,t[12]=0,t[13]=0,t[14]=0,t[15]=1,this}makeRotationFromEuler(e){let t=this.elements,n=e.x,r=e.y,a=e.z,l=Math.cos(n),c=Math.sin(n),h=Math.cos(r),d=Math.sin(r),p=Math.cos(a),m=Math.sin(a);if(e.order==="XYZ"){let g=l*p,v=l*m,w=c*p,C=c*m;t[0]=h*p,t[4]=-h*m,t[8]=d,t[1]=v+w*d,t[5]=g-C*d,t[9]=-c*h,t[2]=C-g*d,t[6]=w+v*d,t[10]=l*h}else if(e.order==="YXZ"){let g=h*p,v=h*m,w=d*p,C=d*m;t[0]=g+C*c,t[4]=w*c-v,t[8]=l*d,t[1]=l*m,t[5]=l*p,t[9]=-c,t[2]=v*c-w,t[6]=C+g*c,t[10]=l*h}else if(e.order==="ZXY"){let g=h*p,v=h*m,w=d*p,C=d*m;t[0]=g-C*c,t[4]=-l*m,t[8]=w+v*c,t[1]=v+w*c,t[5]=l*p,t[9]=C-g*c,t[2]=-l*d,t[6]=c,t[10]=l*h}else if(e.order==="ZYX"){let g=l*p,v=l*m,w=c*p,C=c*m;t[0]=h*p,t[4]=w*d-v,t[8]=g*d+C,t[1]=h*m,t[5]=C*d+g,t[9]=v*d-w,t[2]=-d,t[6]=c*h,t[10]=l*h}else if(e.order==="YZX"){let g=l*h,v=l*d,w=c*h,C=c*d;t[0]=h*p,t[4]=C-g*m,t[8]=w*m+v,t[1]=m,t[5]=l*p,t[9]=-c*p,t[2]=-d*p,t[6]=v*m+w,t[10]=g-C*m}else if(e.order==="XZY"){let g=l*h,v=l*d,w=c*h,C=c*d;t[0]=h*p,t[4]=-m,t[8]=d*p,t[1]=g*m+C,t[5]=l*p,t[9]=v*m-w,t[2]=w*m-v,t[6]=c*p,t[10]=C*m+g}return t[3]=0,t[7]=0,t[11]=0,t[12]=0,t[13]=0,t[14]=0,t[15]=1,this}makeRotationFromQuaternion(e){return this.compose(kx,e,zx)}lookAt(e,t,n){let r=this.elements;return ei.subVectors(e,t),ei.lengthSq()===0&&(ei.z=1),ei.normalize(),mr.crossVectors(n,ei),mr.lengthSq()===0&&(Math.abs(n.z)===1?ei.x+=1e-4:ei.z+=1e-4,ei.normalize(),mr.crossVectors(n,ei)),mr.normalize(),Fo.crossVectors(ei,mr),r[0]=mr.x,r[4]=Fo.x,r[8]=ei.x,r[1]=mr.y,r[5]=Fo.y,r[9]=ei.y,r[2]=mr.z,r[6]=Fo.z,r[10]=ei.z,this}multiply(e){return this.multiplyMatrices(this,e)}premultiply(e){return this.multiplyMatrices(e,this)}multiplyMatrices(e,t){let n=e.elements,r=t.elements,a=this.elements,l=n[0],c=n[4],h=n[8],d=n[12],p=n[1],m=n[5],g=n[9],v=n[13],w=n[2],C=n[6],b=n[10],y=n[14],D=n[3],U=n[7],F=n[11],k=n[15],L=r[0],E=r[4],N=r[8],J=r[12],V=r[1],ee=r[5],q=r[9],ne=r[13],X=r[2],te=r[6],H=r[10],le=r[14],be=r[3],ue=r[7],$=r[11],ye=r[15];return a[0]=l*L+c*V+h*X+d*be,a[4]=l*E+c*ee+h*te+d*ue,a[8]=l*N+c*q+h*H+d*$,a[12]=l*J+c*ne+h*le+d*ye,a[1]=p*L+m*V+g*X+v*be,a[5]=p*E+m*ee+g*te+v*ue,a[9]=p*N+m*q+g*H+v*$,a[13]=p*J+m*ne+g*le+v*ye,a[2]=w*L+C*V+b*X+y*be,a[6]=w*E+C*ee+b*te+y*ue,a[10]=w*N+C*q+b*H+y*$,a[14]=w*J+C*ne+b*le+y*ye,a[3]=D*L+U*V+F*X+k*be,a[7]=D*E+U*ee+F*te+k*ue,a[11]=D*N+U*q+F*H+k*$,a[15]=D*J+U*ne+F*le+k*ye,this}multiplyScalar(e){let t=this.elements;return t[0]*=e,t[4]*=e,t[8]*=e,t[12]*=e,t[1]*=e,t[5]*=e,t[9]*=e,t[13]*=e,t[2]*=e,t[6]*=e,t[10]*=e,t[14]*=e,t[3]*=e,t[7]*=e,t[11]*=e,t[15]*=e,this}determinant(){let e=this.elements,t=e[0],n=e[4],r=e[8],a=e[12],l=e[1],c=e[5],h=e[9],d=e[13],p=e[2],m=e[6],g=e[10],v=e[14],w=e[3],C=e[7],b=e[11],y=e[15],D=h*v-d*g,U=c*v-d*m,F=c*g-h*m,k=l*v-d*p,L=l*g-h*p,E=l*m-c*p;return t*(C*D-b*U+y*F)-n*(w*D-b*k+y*L)+r*(w*U-C*k+y*E)-a*(w*F-C*L+b*E)}determinantAffine(){let e=this.elements,t=e[0],n=e[4],r=e[8],a=e[1],l=e[5],c=e[9],h=e[2],d=e[6],p=e[10];return t*(l*p-c*d)-n*(a*p-c*h)+r*(a*d-l*h)}transpose(){let e=this.elements,t;return t=e[1],e[1]=e[4],e[4]=t,t=e[2],e[2]=e[8],e[8]=t,t=e[6],e[6]=e[9],e[9]=t,t=e[3],e[3]=e[12],e[12]=t,t=e[7],e[7]=e[13],e[13]=t,t=e[11],e[11]=e[14],e[14]=t,this}setPosition(e,t,n){let r=this.elements;return e.isVector3?(r[12]=e.x,r[13]=e.y,r[14]=e.z):(r[12]=e,r[13]=t,r[14]=n),this}invert(){let e=this.elements,t=e[0],n=e[1],r=e[2],a=e[3],l=e[4],c=e[5],h=e[6],d=e[7],p=e[8],m=e[9],g=e[10],v=e[11],w=e[12],C=e[13],b=e[14],y=e[15],D=t*c-n*l,U=t*h-r*l,F=t*d-a*l,k=n*h-r*c,L=n*d-a*c,E=r*d-a*h,N=p*C-m*w,J=p*b-g*w,V=p*y-v*w,ee=m*b-g*C,q=m*y-v*C,ne=g*y-v*b,X=D*ne-U*q+F*ee+k*V-L*J+E*N;if(X===0)return this.set(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);let te=1/X;return e[0]=(c*ne-h*q+d*ee)*te,e[1]=(r*q-n*ne-a*ee)*te,e[2]=(C*E-b*L+y*k)*te,e[3]=(g*L-m*E-v*k)*te,e[4]=(h*V-l*ne-d*J)*te,e[5]=(t*ne-r*V+a*J)*te,e[6]=(b*F-w*E-y*U)*te,e[7]=(p*E-g*F+v*U)*te,e[8]=(l*q-c*V+d*N)*te,e[9]=(n*V-t*q-a*N)*te,e[10]=(w*L-C*F+y*D)*te,e[11]=(m*F-p*L-v*D)*te,e[12]=(c*J-l*ee-h*N)*te,e[13]=(t*ee-n*J+r*N)*te,e[14]=(C*U-w*k-b*D)*te,e[15]=(p*k-m*U+g*D)*te,this}scale(e){let t=this.elements,n=e.x,r=e.y,a=e.z;return t[0]*=n,t[4]*=r,t[8]*=a,t[1]*=n,t[5]*=r,t[9]*=a,t[2]*=n,t[6]*=r,t[10]*=a,t[3]*=n,t[7]*=r,t[11]*=a,this}getMaxScaleOnAxis(){let e=this.elements,t=e[0]*e[0]+e[1]*e[1]+e[2]*e[2],n=e[4]*e[4]+e[5]*e[5]+e[6]*e[6],r=e[8]*e[8]+e[9]*e[9]+e[10]*e[10];return Math.sqrt(Math.max(t,n,r))}makeTranslation(e,t,n){return e.isVector3?this.set(1,0,0,e.x,0,1,0,e.y,0,0,1,e.z,0,0,0,1):this.set(1,0,0,e,0,1,0,t,0,0,1,n,0,0,0,1),this}makeRotationX(e){let t=Math.cos(e),n=Math.sin(e);return this.set(1,0,0,0,0,t,-n,0,0,n,t,0,0,0,0,1),this}makeRotationY(e){let t=Math.cos(e),n=Math.sin(e);return this.set(t,0,n,0,0,1,0,0,-n,0,t,0,0,0,0,1),this}makeRotationZ(e){let t=Math.cos(e),n=Math.sin(e);return this.set(t,-n,0,0,n,t,0,0,0,0,1,0,0,0,0,1),this}makeRotationAxis(e,t){let n=Math.cos(t),r=Math.sin(t),a=1-n,l=e.x,c=e.y,h=e.z,d=a*l,p=a*c;return this.set(d*l+n,d*c-r*h,d*h+r*c,0,d*c+r*h,p*c+n,p*h-r*l,0,d*h-r*c,p*h+r*l,a*h*h+n,0,0,0,0,1),this}makeScale(e,t,n){return this.set(e,0,0,0,0,t,0,0,0,0,n,0,0,0,0,1),this}makeShear(e,t,n,r,a,l){return this.set(1,n,a,0,e,1,l,0,t,r,1,0,0,0,0,1),this}compose(e,t,n){let r=this.elements,a=t._x,l=t._y,c=t._z,h=t._w,d=a+a,p=l+l,m=c+c,g=a*d,v=a*p,w=a*m,C=l*p,b=l*m,y=c*m,D=h*d,U=h*p,F=h*m,k=n.x,L=n.y,E=n.z;return r[0]=(1-(C+y))*k,r[1]=(v+F)*k,r[2]=(w-U)*k,r[3]=0,r[4]=(v-F)*L,r[5]=(1-(g+y))*L,r[6]=(b+D)*L,r[7]=0,r[8]=(w+U)*E,r[9]=(b-D)*E,r[10]=(1-(g+C))*E,r[11]=0,r[12]=e.x,r[13]=e.y,r[14]=e.z,r[15]=1,this}decompose(e,t,n){let r=this.elements;e.x=r[12],e.y=r[13],e.z=r[14];let a=this.determinantAffine();if(a===0)return n.set(1,1,1),t.identity(),this;let l=vs.set(r[0],r[1],r[2]).length(),c=vs.set(r[4],r[5],r[6]).length(),h=vs.set(r[8],r[9],r[10]).length();a<0&&(l=-l),Si.copy(this);let d=1/l,p=1/c,m=1/h;return Si.elements[0]*=d,Si.elements[1]*=d,Si.elements[2]*=d,Si.elements[4]*=p,Si.elements[5]*=p,Si.elements[6]*=p,Si.elements[8]*=m,Si.elements[9]*=m,Si.elements[10]*=m,t.setFromRotationMatrix(Si),n.x=l,n.y=c,n.z=h,this}makePerspective(e,t,n,r,a,l,c=fi,h=!1){let d=this.elements,p=2*a/(t-e),m=2*a/(n-r),g=(t+e)/(t-e),v=(n+r)/(n-r),w,C;if(h)w=a/(l-a),C=l*a/(l-a);else if(c===fi)w=-(l+a)/(l-a),C=-2*l*a/(l-a);else if(c===Fs)w=-l/(l-a),C=-l*a/(l-a);else throw new Error("THREE.Matrix4.makePerspective(): Invalid coordinate system: "+c);return d[0]=p,d[4]=0,d[8]=g,d[12]=0,d[1]=0,d[5]=m,d[9]=v,d[13]=0,d[2]=0,d[6]=0,d[10]=w,d[14]=C,d[3]=0,d[7]=0,d[11]=-1,d[15]=0,this}makeOrthographic(e,t,n,r,a,l,c=fi,h=!1){let d=this.elements,p=2/(t-e),m=2/(n-r),g=-(t+e)/(t-e),v=-(n+r)/(n-r),w,C;if(h)w=1/(l-a),C=l/(l-a);else if(c===fi)w=-2/(l-a),C=-(l+a)/(l-a);else if(c===Fs)w=-1/(l-a),C=-a/(l-a);else throw new Error("THREE.Matrix4.makeOrthographic(): Invalid coordinate system: "+c);return d[0]=p,d[4]=0,d[8]=0,d[12]=g,d[1]=0,d[5]=m,d[9]=0,d[13]=v,d[2]=0,d[6]=0,d[10]=w,d[14]=C,d[3]=0,d[7]=0,d[11]=0,d[15]=1,this}equals(e){let t=this.elements,n=e.elements;for(let r=0;r<16;r++)if(t[r]!==n[r])return!1;return!0}fromArray(e,t=0){for(let n=0;n<16;n++)this.elements[n]=e[n+t];return this}toArray(e=[],t=0){let n=this.elements;return e[t]=n[0],e[t+1]=n[1],e[t+2]=n[2],e[t+3]=n[3],e[t+4]=n[4],e[t+5]=n[5],e[t+6]=n[6],e[t+7]=n[7],e[t+8]=n[8],e[t+9]=n[9],e[t+10]=n[10],e[t+11]=n[11],e[t+12]=n[12],e[t+13]=n[13],e[t+14]=n[14],e[t+15]=n[15],e}},vs=new re,Si=new Yt,kx=new re(0,0,0),zx=new re(1,1,1),mr=new re,Fo=new re,ei=new re,bf=new Yt,Sf=new pi,er=class i{constructor(e=0,t=0,n=0,r=i.DEFAULT_ORDER){this.isEuler=!0,this._x=e,this._y=t,this._z=n,this._order=r}get x(){return this._x}set x(e){this._x=e,this._onChangeCallback()}get y(){return this._y}set y(e){this._y=e,this._onChangeCallback()}get z(){return this._z}set z(e){this._z=e,this._onChangeCallback()}get order(){return this._order}set order(e){this._order=e,this._onChangeCallback()}set(e,t,n,r=this._order){return this._x=e,this._y=t,this._z=n,this._order=r,this._onChangeCallback(),this}clone(){return new this.constructor(this._x,this._y,this._z,this._order)}copy(e){return this._x=e._x,this._y=e._y,this._z=e._z,this._order=e._order,this._onChangeCallback(),this}setFromRotationMatrix(e,t=this._order,n=!0){let r=e.elements,a=r[0],l=r[4],c=r[8],h=r[1],d=r[5],p=r[9],m=r[2],g=r[6],v=r[10];switch(t){case"XYZ":this._y=Math.asin(Ot(c,-1,1)),Math.abs(c)<.9999999?(this._x=Math.atan2(-p,v),this._z=Math.atan2(-l,a)):(this._x=Math.atan2(g,d),this._z=0);break;case"YXZ":this._x=Math.asin(-Ot(p,-1,1)),Math.abs(p)<.9999999?(this._y=Math.atan2(c,v),this._z=Math.atan2(h,d)):(this._y=Math.atan2(-m,a),this._z=0);break;case"ZXY":this._x=Math.asin(Ot(g,-1,1)),Math.abs(g)<.9999999?(this._y=Math.atan2(-m,v),this._z=Math.atan2(-l,d)):(this._y=0,this._z=Math.atan2(h,a));break;case"ZYX":this._y=Math.asin(-Ot(m,-1,1)),Math.abs(m)<.9999999?(this._x=Math.atan2(g,v),this._z=Math.atan2(h,a)):(this._x=0,this._z=Math.atan2(-l,d));break;case"YZX":this._z=Math.asin(Ot(h,-1,1)),Math.abs(h)<.9999999?(this._x=Math.atan2(-p,d),this._y=Math.atan2(-m,a)):(this._x=0,this._y=Math.atan2(c,v));break;case"XZY":this._z=Math.asin(-Ot(l,-1,1)),Math.abs(l)<.9999999?(this._x=Math.atan2(g,d),this._y=Math.atan2(c,a)):(this._x=Math.atan2(-p,v),this._y=0);break;default:ht("Euler: .setFromRotationMatrix() encountered an unknown order: "+t)}return this._order=t,n===!0&&this._onChangeCallback(),this}setFromQuaternion(e,t,n){return bf.makeRotationFromQuaternion(e),this.setFromRotationMatrix(bf,t,n)}setFromVector3(e,t=this._order){return this.set(e.x,e.y,e.z,t)}reorder(e){return Sf.setFromEuler(this),this.setFromQuaternion(Sf,e)}equals(e){return e._x===this._x&&e._y===this._y&&e._z===this._z&&e._order===this._order}fromArray(e){return this._x=e[0],this._y=e[1],this._z=e[2],e[3]!==void 0&&(this._order=e[3]),this._onChangeCallback(),this}toArray(e=[],t=0){return e[t]=this._x,e[t+1]=this._y,e[t+2]=this._z,e[t+3]=this._order,e}_onChange(e){return this._onChangeCallback=e,this}_onChangeCallback(){}*[Symbol.iterator](){yield this._x,yield this._y,yield this._z,yield this._order}};er.DEFAULT_ORDER="XYZ";var Bs=class{constructor(){this.mask=1}set(e){this.mask=(1<<e|0)>>>0}enable(e){this.mask|=1<<e|0}enableAll(){this.mask=-1}toggle(e){this.mask^=1<<e|0}disable(e){this.mask&=~(1<<e|0)}disableAll(){this.mask=0}test(e){return(this.mask&e.mask)!==0}isEnabled(e){return(this.mask&(1<<e|0))!==0}},Gx=0,wf=new re,ys=new pi,Xi=new Yt,No=new re,da=new re,Vx=new re,Hx=new pi,Mf=new re(1,0,0),Ef=new re(0,1,0),Tf=new re(0,0,1),Af={type:"added"},Wx={type:"removed"},xs={type:"childadded",child:null},Fu={type:"childremoved",child:null},An=class i extends Fi{constructor(){super(),this.isObject3D=!0,Object.defineProperty(this,"id",{value:Gx++}),this.uuid=Xs(),this.name="",this.type="Object3D",this.parent=null,this.children=[],this.up=i.DEFAULT_UP.clone();let e=new re,t=new er,n=new pi,r=new re(1,1,1);function a(){n.setFromEuler(t,!1)}function l(){t.setFromQuaternion(n,void 0,!1)}t._onChange(a),n._onChange(l),Object.defineProperties(this,{position:{configurable:!0,enumerable:!0,value:e},rotation:{configurable:!0,enumerable:!0,value:t},quaternion:{configurable:!0,enumerable:!0,value:n},scale:{configurable:!0,enumerable:!0,value:r},modelViewMatrix:{value:new Yt},normalMatrix:{value:new yt}}),this.matrix=new Yt,this.matrixWorld=new Yt,this.matrixAutoUpdate=i.DEFAULT_MATRIX_AUTO_UPDATE,this.matrixWorldAutoUpdate=i.DEFAULT_MATRIX_WORLD_AUTO_UPDATE,this.matrixWorldNeedsUpdate=!1,this.layers=new Bs,this.visible=!0,this.castShadow=!1,this.receiveShadow=!1,this.frustumCulled=!0,this.renderOrder=0,this.animations=[],this.customDepthMaterial=void 0,this.customDistanceMaterial=void 0,this.static=!1,this.userData={},this.pivot=null}onBeforeShadow(){}onAfterShadow(){}onBeforeRender(){}onAfterRender(){}applyMatrix4(e){this.matrixAutoUpdate&&this.updateMatrix(),this.matrix.premultiply(e),this.matrix.decompose(this.position,this.quaternion,this.scale),this.pivot!==null&&this.position.copy(this.pivot).applyMatrix4(this.matrix).sub(this.pivot)}applyQuaternion(e){return this.quaternion.premultiply(e),this}setRotationFromAxisAngle(e,t){this.quaternion.setFromAxisAngle(e,t)}setRotationFromEuler(e){this.quaternion.setFromEuler(e,!0)}setRotationFromMatrix(e){this.quaternion.setFromRotationMatrix(e)}setRotationFromQuaternion(e){this.quaternion.copy(e)}rotateOnAxis(e,t){return ys.setFromAxisAngle(e,t),this.quaternion.multiply(ys),this}rotateOnWorldAxis(e,t){return ys.setFromAxisAngle(e,t),this.quaternion.premultiply(ys),this}rotateX(e){return this.rotateOnAxis(Mf,e)}rotateY(e){return this.rotateOnAxis(Ef,e)}rotateZ(e){return this.rotateOnAxis(Tf,e)}translateOnAxis(e,t){return wf.copy(e).applyQuaternion(this.quaternion),this.position.add(wf.multiplyScalar(t)),this}translateX(e){return this.translateOnAxis(Mf,e)}translateY(e){return this.translateOnAxis(Ef,e)}translateZ(e){return this.translateOnAxis(Tf,e)}localToWorld(e){return this.updateWorldMatrix(!0,!1),e.applyMatrix4(this.matrixWorld)}worldToLocal(e){return this.updateWorldMatrix(!0,!1),e.applyMatrix4(Xi.copy(this.matrixWorld).invert())}lookAt(e,t,n){e.isVector3?No.copy(e):No.set(e,t,n);let r=this.parent;this.updateWorldMatrix(!0,!1),da.setFromMatrixPosition(this.matrixWorld),this.isCamera||this.isLight?Xi.lookAt(da,No,this.up):Xi.lookAt(No,da,this.up),this.quaternion.setFromRotationMatrix(Xi),r&&(Xi.extractRotation(r.matrixWorld),ys.setFromRotationMatrix(Xi),this.quaternion.premultiply(ys.invert()))}add(e){if(arguments.length>1){for(let t=0;t<arguments.length;t++)this.add(arguments[t]);return this}return e===this?(pt("Object3D.add: object can't be added as a child of itself.",e),this):(e&&e.isObject3D?(e.removeFromParent(),e.parent=this,this.children.push(e),e.dispatchEvent(Af),xs.child=e,this.dispatchEvent(xs),xs.child=null):pt("Object3D.add: object not an instance of THREE.Object3D.",e),this)}remove(e){if(arguments.length>1){for(let n=0;n<arguments.length;n++)this.remove(arguments[n]);return this}let t=this.children.indexOf(e);return t!==-1&&(e.parent=null,this.children.splice(t,1),e.dispatchEvent(Wx),Fu.child=e,this.dispatchEvent(Fu),Fu.child=null),this}removeFromParent(){let e=this.parent;return e!==null&&e.remove(this),this}clear(){return this.remove(...this.children)}attach(e){return this.updateWorldMatrix(!0,!1),Xi.copy(this.matrixWorld).invert(),e.parent!==null&&(e.parent.updateWorldMatrix(!0,!1),Xi.multiply(e.parent.matrixWorld)),e.applyMatrix4(Xi),e.removeFromParent(),e.parent=this,this.children.push(e),e.updateWorldMatrix(!1,!0),e.dispatchEvent(Af),xs.child=e,this.dispatchEvent(xs),xs.child=null,this}getObjectById(e){return this.getObjectByProperty("id",e)}getObjectByName(e){return this.getObjectByProperty("name",e)}getObjectByProperty(e,t){if(this[e]===t)return this;for(let n=0,r=this.children.length;n<r;n++){let l=this.children[n].getObjectByProperty(e,t);if(l!==void 0)return l}}getObjectsByProperty(e,t,n=[]){this[e]===t&&n.push(this);let r=this.children;for(let a=0,l=r.length;a<l;a++)r[a].getObjectsByProperty(e,t,n);return n}getWorldPosition(e){return this.updateWorldMatrix(!0,!1),e.setFromMatrixPosition(this.matrixWorld)}getWorldQuaternion(e){return this.updateWorldMatrix(!0,!1),this.matrixWorld.decompose(da,e,Vx),e}getWorldScale(e){return this.updateWorldMatrix(!0,!1),this.matrixWorld.decompose(da,Hx,e),e}getWorldDirection(e){this.updateWorldMatrix(!0,!1);let t=this.matrixWorld.elements;return e.set(t[8],t[9],t[10]).normalize()}raycast(){}intersectsFrustum(){return!0}traverse(e){e(this);let t=this.children;for(let n=0,r=t.length;n<r;n++)t[n].traverse(e)}traverseVisible(e){if(this.visible===!1)return;e(this);let t=this.children;for(let n=0,r=t.length;n<r;n++)t[n].traverseVisible(e)}traverseAncestors(e){let t=this.parent;t!==null&&(e(t),t.traverseAncestors(e))}updateMatrix(){this.matrix.compose(this.position,this.quaternion,this.scale);let e=this.pivot;if(e!==null){let t=e.x,n=e.y,r=e.z,a=this.matrix.elements;a[12]+=t-a[0]*t-a[4]*n-a[8]*r,a[13]+=n-a[1]*t-a[5]*n-a[9]*r,a[14]+=r-a[2]*t-a[6]*n-a[10]*r}this.matrixWorldNeedsUpdate=!0}updateMatrixWorld(e){this.matrixAutoUpdate&&this.updateMatrix(),(this.matrixWorldNeedsUpdate||e)&&(this.matrixWorldAutoUpdate===!0&&(this.parent===null?this.matrixWorld.copy(this.matrix):this.matrixWorld.multiplyMatrices(this.parent.matrixWorld,this.matrix)),this.matrixWorldNeedsUpdate=!1,e=!0);let t=this.children;for(let n=0,r=t.length;n<r;n++)t[n].updateMatrixWorld(e)}updateWorldMatrix(e,t,n=!1){let r=this.parent;if(e===!0&&r!==null&&r.updateWorldMatrix(!0,!1),this.matrixAutoUpdate&&this.updateMatrix(),(this.matrixWorldNeedsUpdate||n)&&(this.matrixWorldAutoUpdate===!0&&(this.parent===null?this.matrixWorld.copy(this.matrix):this.matrixWorld.multiplyMatrices(this.parent.matrixWorld,this.matrix)),this.matrixWorldNeedsUpdate=!1,n=!0),t===!0){let a=this.children;for(let l=0,c=a.length;l<c;l++)a[l].updateWorldMatrix(!1,!0,n)}}toJSON(e){let t=e===void 0||typeof e=="string",n={};t&&(e={geometries:{},materials:{},textures:{},images:{},shapes:{},skeletons:{},animations:{},nodes:{}},n.metadata={version:4.7,type:"Object",generator:"Object3D.toJSON"});let r={};r.uuid=this.uuid,r.type=this.type,r.name=this.name,r.castShadow=this.castShadow,r.receiveShadow=this.receiveShadow,r.visible=this.visible,r.frustumCulled=this.frustumCulled,r.renderOrder=this.renderOrder,r.static=this.static,r.matrixAutoUpdate=this.matrixAutoUpdate,Object.keys(this.userData).length>0&&(r.userData=this.userData),r.layers=this.layers.mask,r.matrix=this.matrix.toArray(),r.up=this.up.toArray(),this.pivot!==null&&(r.pivot=this.pivot.toArray()),this.morphTargetDictionary!==void 0&&(r.morphTargetDictionary=Object.assign({},this.morphTargetDictionary)),this.morphTargetInfluences!==void 0&&(r.morphTargetInfluences=this.morphTargetInfluences.slice()),this.isInstancedMesh&&(r.type="InstancedMesh",r.count=this.count,r.instanceMatrix=this.instanceMatrix.toJSON(),this.instanceColor!==null&&(r.instanceColor=this.instanceColor.toJSON())),this.isBatchedMesh&&(r.type="BatchedMesh",r.perObjectFrustumCulled=this.perObjectFrustumCulled,r.sortObjects=this.sortObjects,r.drawRanges=this._drawRanges,r.reservedRanges=this._reservedRanges,r.geometryInfo=this._geometryInfo.map(c=>({...c,boundingBox:c.boundingBox?c.boundingBox.toJSON():void 0,boundingSphere:c.boundingSphere?c.boundingSphere.toJSON():void 0})),r.instanceInfo=this._instanceInfo.map(c=>({...c})),r.availableInstanceIds=this._availableInstanceIds.slice(),r.availableGeometryIds=this._availableGeometryIds.slice(),r.nextIndexStart=this._nextIndexStart,r.nextVertexStart=this._nextVertexStart,r.geometryCount=this._geometryCount,r.maxInstanceCount=this._maxInstanceCount,r.maxVertexCount=this._maxVertexCount,r.maxIndexCount=this._maxIndexCount,r.geometryInitialized=this._geometryInitialized,r.matricesTexture=this._matricesTexture.toJSON(e),r.indirectTexture=this._indirectTexture.toJSON(e),this._colorsTexture!==null&&(r.colorsTexture=this._colorsTexture.toJSON(e)),this.boundingSphere!==null&&(r.boundingSphere=this.boundingSphere.toJSON()),this.boundingBox!==null&&(r.boundingBox=this.boundingBox.toJSON()));function a(c,h){return c[h.uuid]===void 0&&(c[h.uuid]=h.toJSON(e)),h.uuid}if(this.isScene)this.background&&(this.background.isColor?r.background=this.background.toJSON():this.background.isTexture&&(r.background=this.background.toJSON(e).uuid)),this.environment&&this.environment.isTexture&&this.environment.isRenderTargetTexture!==!0&&(r.environment=this.environment.toJSON(e).uuid);else if(this.isMesh||this.isLine||this.isPoints){r.geometry=a(e.geometries,this.geometry);let c=this.geometry.parameters;if(c!==void 0&&c.shapes!==void 0){let h=c.shapes;if(Array.isArray(h))for(let d=0,p=h.length;d<p;d++){let m=h[d];a(e.shapes,m)}else a(e.shapes,h)}}if(this.isSkinnedMesh&&(r.bindMode=this.bindMode,r.bindMatrix=this.bindMatrix.toArray(),this.skeleton!==void 0&&(a(e.skeletons,this.skeleton),r.skeleton=this.skeleton.uuid)),this.material!==void 0)if(Array.isArray(this.material)){let c=[];for(let h=0,d=this.material.length;h<d;h++)c.push(a(e.materials,this.material[h]));r.material=c}else r.material=a(e.materials,this.material);if(this.children.length>0){r.children=[];for(let c=0;c<this.children.length;c++)r.children.push(this.children[c].toJSON(e).object)}if(this.animations.length>0){r.animations=[];for(let c=0;c<this.animations.length;c++){let h=this.animations[c];r.animations.push(a(e.animations,h))}}if(t){let c=l(e.geometries),h=l(e.materials),d=l(e.textures),p=l(e.images),m=l(e.shapes),g=l(e.skeletons),v=l(e.animations),w=l(e.nodes);c.length>0&&(n.geometries=c),h.length>0&&(n.materials=h),d.length>0&&(n.textures=d),p.length>0&&(n.images=p),m.length>0&&(n.shapes=m),g.length>0&&(n.skeletons=g),v.length>0&&(n.animations=v),w.length>0&&(n.nodes=w)}return n.object=r,n;function l(c){let h=[];for(let d in c){let p=c[d];delete p.metadata,h.push(p)}return h}}clone(e){return new this.constructor().copy(this,e)}copy(e,t=!0){if(this.name=e.name,this.up.copy(e.up),this.position.copy(e.position),this.rotation.order=e.rotation.order,this.quaternion.copy(e.quaternion),this.scale.copy(e.scale),this.pivot=e.pivot!==null?e.pivot.clone():null,this.matrix.copy(e.matrix),this.matrixWorld.copy(e.matrixWorld),this.matrixAutoUpdate=e.matrixAutoUpdate,this.matrixWorldAutoUpdate=e.matrixWorldAutoUpdate,this.matrixWorldNeedsUpdate=e.matrixWorldNeedsUpdate,this.layers.mask=e.layers.mask,this.visible=e.visible,this.castShadow=e.castShadow,this.receiveShadow=e.receiveShadow,this.frustumCulled=e.frustumCulled,this.renderOrder=e.renderOrder,this.static=e.static,this.animations=e.animations.slice(),this.userData=JSON.parse(JSON.stringify(e.userData)),t===!0)for(let n=0;n<e.children.length;n++){let r=e.children[n];this.add(r.clone())}return this}dispose(){this.dispatchEvent({type:"dispose"})}};An.DEFAULT_UP=new re(0,1,0);An.DEFAULT_MATRIX_AUTO_UPDATE=!0;An.DEFAULT_MATRIX_WORLD_AUTO_UPDATE=!0;var Zi=class extends An{constructor(){super(),this.isGroup=!0,this.type="Group"}},$x={type:"move"},ks=class{constructor(){this._targetRay=null,this._grip=null,this._hand=null}getHandSpace(){return this._hand===null&&(this._hand=new Zi,this._hand.matrixAutoUpdate=!1,this._hand.visible=!1,this._hand.joints={},this._hand.inputState={pinching:!1}),this._hand}getTargetRaySpace(){return this._targetRay===null&&(this._targetRay=new Zi,this._targetRay.matrixAutoUpdate=!1,this._targetRay.visible=!1,this._targetRay.hasLinearVelocity=!1,this._targetRay.linearVelocity=new re,this._targetRay.hasAngularVelocity=!1,this._targetRay.angularVelocity=new re),this._targetRay}getGripSpace(){return this._grip===null&&(this._grip=new Zi,this._grip.matrixAutoUpdate=!1,this._grip.visible=!1,this._grip.hasLinearVelocity=!1,this._grip.linearVelocity=new re,this._grip.hasAngularVelocity=!1,this._grip.angularVelocity=new re,this._grip.eventsEnabled=!1),this._grip}dispatchEvent(e){return this._targetRay!==null&&this._targetRay.dispatchEvent(e),this._grip!==null&&this._grip.dispatchEvent(e),this._hand!==null&&this._hand.dispatchEvent(e),this}connect(e){if(e&&e.hand){let t=this._hand;if(t)for(let n of e.hand.values())this._getHandJoint(t,n)}return this.dispatchEvent({type:"connected",data:e}),this}disconnect(e){return this.dispatchEvent({type:"disconnected",data:e}),this._targetRay!==null&&(this._targetRay.visible=!1),this._grip!==null&&(this._grip.visible=!1),this._hand!==null&&(this._hand.visible=!1),this}update(e,t,n){let r=null,a=null,l=null,c=this._targetRay,h=this._grip,d=this._hand;if(e&&t.session.visibilityState!=="visible-blurred"){if(d&&e.hand){l=!0;for(let C of e.hand.values()){let b=t.getJointPose(C,n),y=this._getHandJoint(d,C);b!==null&&(y.matrix.fromArray(b.transform.matrix),y.matrix.decompose(y.position,y.quaternion,y.scale),y.matrixWorldNeedsUpdate=!0,y.jointRadius=b.radius),y.visible=b!==null}let p=d.joints["index-finger-tip"],m=d.joints["thumb-tip"],g=p.position.distanceTo(m.position),v=.02,w=.005;d.inputState.pinching&&g>v+w?(d.inputState.pinching=!1,this.dispatchEvent({type:"pinchend",handedness:e.handedness,target:this})):!d.inputState.pinching&&g<=v-w&&(d.inputState.pinching=!0,this.dispatchEvent({type:"pinchstart",handedness:e.handedness,target:this}))}else h!==null&&e.gripSpace&&(a=t.getPose(e.gripSpace,n),a!==null&&(h.matrix.fromArray(a.transform.matrix),h.matrix.decompose(h.position,h.quaternion,h.scale),h.matrixWorldNeedsUpdate=!0,a.linearVelocity?(h.hasLinearVelocity=!0,h.linearVelocity.copy(a.linearVelocity)):h.hasLinearVelocity=!1,a.angularVelocity?(h.hasAngularVelocity=!0,h.angularVelocity.copy(a.angularVelocity)):h.hasAngularVelocity=!1,h.eventsEnabled&&h.dispatchEvent({type:"gripUpdated",data:e,target:this})));c!==null&&(r=t.getPose(e.targetRaySpace,n),r===null&&a!==null&&(r=a),r!==null&&(c.matrix.fromArray(r.transform.matrix),c.matrix.decompose(c.position,c.quaternion,c.scale),c.matrixWorldNeedsUpdate=!0,r.linearVelocity?(c.hasLinearVelocity=!0,c.linearVelocity.copy(r.linearVelocity)):c.hasLinearVelocity=!1,r.angularVelocity?(c.hasAngularVelocity=!0,c.angularVelocity.copy(r.angularVelocity)):c.hasAngularVelocity=!1,this.dispatchEvent($x)))}return c!==null&&(c.visible=r!==null),h!==null&&(h.visible=a!==null),d!==null&&(d.visible=l!==null),this}_getHandJoint(e,t){if(e.joints[t.jointName]===void 0){let n=new Zi;n.matrixAutoUpdate=!1,n.visible=!1,e.joints[t.jointName]=n,e.add(n)}return e.joints[t.jointName]}},Lp={aliceblue:15792383,antiquewhite:16444375,aqua:65535,aquamarine:8388564,azure:15794175,beige:16119260,bisque:16770244,black:0,blanchedalmond:16772045,blue:255,blueviolet:9055202,brown:10824234,burlywood:14596231,cadetblue:6266528,chartreuse:8388352,chocolate:13789470,coral:16744272,cornflowerblue:6591981,cornsilk:16775388,crimson:14423100,cyan:65535,darkblue:139,darkcyan:35723,darkgoldenrod:12092939,darkgray:11119017,darkgreen:25600,darkgrey:11119017,darkkhaki:12433259,darkmagenta:9109643,darkolivegreen:5597999,darkorange:16747520,darkorchid:10040012,darkred:9109504,darksalmon:15308410,darkseagreen:9419919,darkslateblue:4734347,darkslategray:3100495,darkslategrey:3100495,darkturquoise:52945,darkviolet:9699539,deeppink:16716947,deepskyblue:49151,dimgray:6908265,dimgrey:6908265,dodgerblue:2003199,firebrick:11674146,floralwhite:16775920,forestgreen:2263842,fuchsia:16711935,gainsboro:14474460,ghostwhite:16316671,gold:16766720,goldenrod:14329120,gray:8421504,green:32768,greenyellow:11403055,grey:8421504,honeydew:15794160,hotpink:16738740,indianred:13458524,indigo:4915330,ivory:16777200,khaki:15787660,lavender:15132410,lavenderblush:16773365,lawngreen:8190976,lemonchiffon:16775885,lightblue:11393254,lightcoral:15761536,lightcyan:14745599,lightgoldenrodyellow:16448210,lightgray:13882323,lightgreen:9498256,lightgrey:13882323,lightpink:16758465,lightsalmon:16752762,lightseagreen:2142890,lightskyblue:8900346,lightslategray:7833753,lightslategrey:7833753,lightsteelblue:11584734,lightyellow:16777184,lime:65280,limegreen:3329330,linen:16445670,magenta:16711935,maroon:8388608,mediumaquamarine:6737322,mediumblue:205,mediumorchid:12211667,mediumpurple:9662683,mediumseagreen:3978097,mediumslateblue:8087790,mediumspringgreen:64154,mediumturquoise:4772300,mediumvioletred:13047173,midnightblue:1644912,mintcream:16121850,mistyrose:16770273,moccasin:16770229,navajowhite:16768685,navy:128,oldlace:16643558,olive:8421376,olivedrab:7048739,orange:16753920,orangered:16729344,orchid:14315734,palegoldenrod:15657130,palegreen:10025880,paleturquoise:11529966,palevioletred:14381203,papayawhip:16773077,peachpuff:16767673,peru:13468991,pink:16761035,plum:14524637,powderblue:11591910,purple:8388736,rebeccapurple:6697881,red:16711680,rosybrown:12357519,royalblue:4286945,saddlebrown:9127187,salmon:16416882,sandybrown:16032864,seagreen:3050327,seashell:16774638,sienna:10506797,silver:12632256,skyblue:8900331,slateblue:6970061,slategray:7372944,slategrey:7372944,snow:16775930,springgreen:65407,steelblue:4620980,tan:13808780,teal:32896,thistle:14204888,tomato:16737095,turquoise:4251856,violet:15631086,wheat:16113331,white:16777215,whitesmoke:16119285,yellow:16776960,yellowgreen:10145074},gr={h:0,s:0,l:0},Uo={h:0,s:0,l:0};function Nu(i,e,t){return t<0&&(t+=1),t>1&&(t-=1),t<1/6?i+(e-i)*6*t:t<1/2?e:t<2/3?i+(e-i)*6*(2/3-t):i}var wt=class{constructor(e,t,n){return this.isColor=!0,this.r=1,this.g=1,this.b=1,this.set(e,t,n)}set(e,t,n){if(t===void 0&&n===void 0){let r=e;r&&r.isColor?this.copy(r):typeof r=="number"?this.setHex(r):typeof r=="string"&&this.setStyle(r)}else this.setRGB(e,t,n);return this}setScalar(e){return this.r=e,this.g=e,this.b=e,this}setHex(e,t=Nn){return e=Math.floor(e),this.r=(e>>16&255)/255,this.g=(e>>8&255)/255,this.b=(e&255)/255,Ut.colorSpaceToWorking(this,t),this}setRGB(e,t,n,r=Ut.workingColorSpace){return this.r=e,this.g=t,this.b=n,Ut.colorSpaceToWorking(this,r),this}setHSL(e,t,n,r=Ut.workingColorSpace){if(e=Lh(e,1),t=Ot(t,0,1),n=Ot(n,0,1),t===0)this.r=this.g=this.b=n;else{let a=n<=.5?n*(1+t):n+t-n*t,l=2*n-a;this.r=Nu(l,a,e+1/3),this.g=Nu(l,a,e),this.b=Nu(l,a,e-1/3)}return Ut.colorSpaceToWorking(this,r),this}setStyle(e,t=Nn){function n(a){a!==void 0&&parseFloat(a)<1&&ht("Color: Alpha component of "+e+" will be ignored.")}let r;if(r=/^(\w+)\(([^\)]*)\)/.exec(e)){let a,l=r[1],c=r[2];switch(l){case"rgb":case"rgba":if(a=/^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(c))return n(a[4]),this.setRGB(Math.min(255,parseInt(a[1],10))/255,Math.min(255,parseInt(a[2],10))/255,Math.min(255,parseInt(a[3],10))/255,t);if(a=/^\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(c))return n(a[4]),this.setRGB(Math.min(100,parseFloat(a[1]))/100,Math.min(100,parseFloat(a[2]))/100,Math.min(100,parseFloat(a[3]))/100,t);break;case"hsl":case"hsla":if(a=/^\s*([+-]?(?:\d+(?:\.\d+)?|\.\d+))\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(c))return n(a[4]),this.setHSL(parseFloat(a[1])/360,parseFloat(a[2])/100,parseFloat(a[3])/100,t);break;default:ht("Color: Unknown color model "+e)}}else if(r=/^\#([A-Fa-f\d]+)$/.exec(e)){let a=r[1],l=a.length;if(l===3)return this.setRGB(parseInt(a.charAt(0),16)/15,parseInt(a.charAt(1),16)/15,parseInt(a.charAt(2),16)/15,t);if(l===6)return this.setHex(parseInt(a,16),t);ht("Color: Invalid hex color "+e)}else if(e&&e.length>0)return this.setColorName(e,t);return this}setColorName(e,t=Nn){let n=Lp[e.toLowerCase()];return n!==void 0?this.setHex(n,t):ht("Color: Unknown color "+e),this}clone(){return new this.constructor(this.r,this.g,this.b)}copy(e){return this.r=e.r,this.g=e.g,this.b=e.b,this}copySRGBToLinear(e){return this.r=Ki(e.r),this.g=Ki(e.g),this.b=Ki(e.b),this}copyLinearToSRGB(e){return this.r=Is(e.r),this.g=Is(e.g),this.b=Is(e.b),this}convertSRGBToLinear(){return this.copySRGBToLinear(this),this}convertLinearToSRGB(){return this.copyLinearToSRGB(this),this}getHex(e=Nn){return Ut.workingToColorSpace(Fn.copy(this),e),Math.round(Ot(Fn.r*255,0,255))*65536+Math.round(Ot(Fn.g*255,0,255))*256+Math.round(Ot(Fn.b*255,0,255))}getHexString(e=Nn){return("000000"+this.getHex(e).toString(16)).slice(-6)}getHSL(e,t=Ut.workingColorSpace){Ut.workingToColorSpace(Fn.copy(this),t);let n=Fn.r,r=Fn.g,a=Fn.b,l=Math.max(n,r,a),c=Math.min(n,r,a),h,d,p=(c+l)/2;if(c===l)h=0,d=0;else{let m=l-c;switch(d=p<=.5?m/(l+c):m/(2-l-c),l){case n:h=(r-a)/m+(r<a?6:0);break;case r:h=(a-n)/m+2;break;case a:h=(n-r)/m+4;break}h/=6}return e.h=h,e.s=d,e.l=p,e}getRGB(e,t=Ut.workingColorSpace){return Ut.workingToColorSpace(Fn.copy(this),t),e.r=Fn.r,e.g=Fn.g,e.b=Fn.b,e}getStyle(e=Nn){Ut.workingToColorSpace(Fn.copy(this),e);let t=Fn.r,n=Fn.g,r=Fn.b;return e!==Nn?`color(${e} ${t.toFixed(3)} ${n.toFixed(3)} ${r.toFixed(3)})`:`rgb(${Math.round(t*255)},${Math.round(n*255)},${Math.round(r*255)})`}offsetHSL(e,t,n){return this.getHSL(gr),this.setHSL(gr.h+e,gr.s+t,gr.l+n)}add(e){return this.r+=e.r,this.g+=e.g,this.b+=e.b,this}addColors(e,t){return this.r=e.r+t.r,this.g=e.g+t.g,this.b=e.b+t.b,this}addScalar(e){return this.r+=e,this.g+=e,this.b+=e,this}sub(e){return this.r=Math.max(0,this.r-e.r),this.g=Math.max(0,this.g-e.g),this.b=Math.max(0,this.b-e.b),this}multiply(e){return this.r*=e.r,this.g*=e.g,this.b*=e.b,this}multiplyScalar(e){return this.r*=e,this.g*=e,this.b*=e,this}lerp(e,t){return this.r+=(e.r-this.r)*t,this.g+=(e.g-this.g)*t,this.b+=(e.b-this.b)*t,this}lerpColors(e,t,n){return this.r=e.r+(t.r-e.r)*n,this.g=e.g+(t.g-e.g)*n,this.b=e.b+(t.b-e.b)*n,this}lerpHSL(e,t){this.getHSL(gr),e.getHSL(Uo);let n=ba(gr.h,Uo.h,t),r=ba(gr.s,Uo.s,t),a=ba(gr.l,Uo.l,t);return this.setHSL(n,r,a),this}setFromVector3(e){return this.r=e.x,this.g=e.y,this.b=e.z,this}applyMatrix3(e){let t=this.r,n=this.g,r=this.b,a=e.elements;return this.r=a[0]*t+a[3]*n+a[6]*r,this.g=a[1]*t+a[4]*n+a[7]*r,this.b=a[2]*t+a[5]*n+a[8]*r,this}equals(e){return e.r===this.r&&e.g===this.g&&e.b===this.b}fromArray(e,t=0){return this.r=e[t],this.g=e[t+1],this.b=e[t+2],this}toArray(e=[],t=0){return e[t]=this.r,e[t+1]=this.g,e[t+2]=this.b,e}fromBufferAttribute(e,t){return this.r=e.getX(t),this.g=e.getY(t),this.b=e.getZ(t),this}toJSON(){return this.getHex()}*[Symbol.iterator](){yield this.r,yield this.g,yield this.b}},Fn=new wt;wt.NAMES=Lp;var Aa=class i{constructor(e,t=1,n=1e3){this.isFog=!0,this.name="",this.color=new wt(e),this.near=t,this.far=n}clone(){return new i(this.color,this.near,this.far)}toJSON(){return{type:"Fog",name:this.name,color:this.color.getHex(),near:this.near,far:this.far}}},Ra=class extends An{constructor(){super(),this.isScene=!0,this.type="Scene",this.background=null,this.environment=null,this.fog=null,this.backgroundBlurriness=0,this.backgroundIntensity=1,this.backgroundRotation=new er,this.environmentIntensity=1,this.environmentRotation=new er,this.overrideMaterial=null,typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("observe",{detail:this}))}copy(e,t){return super.copy(e,t),this.background=e.background!==null?e.background.clone():null,this.environment=e.environment!==null?e.environment.clone():null,this.fog=e.fog!==null?e.fog.clone():null,this.backgroundBlurriness=e.backgroundBlurriness,this.backgroundIntensity=e.backgroundIntensity,this.backgroundRotation.copy(e.backgroundRotation),this.environmentIntensity=e.environmentIntensity,this.environmentRotation.copy(e.environmentRotation),this.overrideMaterial=e.overrideMaterial!==null?e.overrideMaterial.clone():null,this.matrixAutoUpdate=e.matrixAutoUpdate,this}toJSON(e){let t=super.toJSON(e);return this.fog!==null&&(t.object.fog=this.fog.toJSON()),t.object.backgroundBlurriness=this.backgroundBlurriness,t.object.backgroundIntensity=this.backgroundIntensity,t.object.backgroundRotation=this.backgroundRotation.toArray(),t.object.environmentIntensity=this.environmentIntensity,t.object.environmentRotation=this.environmentRotation.toArray(),t}},wi=new re,qi=new re,Uu=new re,ji=new re,bs=new re,Ss=new re,Rf=new re,Ou=new re,Bu=new re,ku=new re,zu=new fn,Gu=new fn,Vu=new fn,xr=class i{constructor(e=new re,t=new re,n=new re){this.a=e,this.b=t,this.c=n}static getNormal(e,t,n,r){r.subVectors(n,t),wi.subVectors(e,t),r.cross(wi);let a=r.lengthSq();return a>0?r.multiplyScalar(1/Math.sqrt(a)):r.set(0,0,0)}static getBarycoord(e,t,n,r,a){wi.subVectors(r,t),qi.subVectors(n,t),Uu.subVectors(e,t);let l=wi.dot(wi),c=wi.dot(qi),h=wi.dot(Uu),d=qi.dot(qi),p=qi.dot(Uu),m=l*d-c*c;if(m===0)return a.set(0,0,0),null;let g=1/m,v=(d*h-c*p)*g,w=(l*p-c*h)*g;return a.set(1-v-w,w,v)}static containsPoint(e,t,n,r){return this.getBarycoord(e,t,n,r,ji)===null?!1:ji.x>=0&&ji.y>=0&&ji.x+ji.y<=1}static getInterpolation(e,t,n,r,a,l,c,h){return this.getBarycoord(e,t,n,r,ji)===null?(h.x=0,h.y=0,"z"in h&&(h.z=0),"w"in h&&(h.w=0),null):(h.setScalar(0),h.addScaledVector(a,ji.x),h.addScaledVector(l,ji.y),h.addScaledVector(c,ji.z),h)}static getInterpolatedAttribute(e,t,n,r,a,l){return zu.setScalar(0),Gu.setScalar(0),Vu.setScalar(0),zu.fromBufferAttribute(e,t),Gu.fromBufferAttribute(e,n),Vu.fromBufferAttribute(e,r),l.setScalar(0),l.addScaledVector(zu,a.x),l.addScaledVector(Gu,a.y),l.addScaledVector(Vu,a.z),l}static isFrontFacing(e,t,n,r){return wi.subVectors(n,t),qi.subVectors(e,t),wi.cross(qi).dot(r)<0}set(e,t,n){return this.a.copy(e),this.b.copy(t),this.c.copy(n),this}setFromPointsAndIndices(e,t,n,r){return this.a.copy(e[t]),this.b.copy(e[n]),this.c.copy(e[r]),this}setFromAttributeAndIndices(e,t,n,r){return this.a.fromBufferAttribute(e,t),this.b.fromBufferAttribute(e,n),this.c.fromBufferAttribute(e,r),this}clone(){return new this.constructor().copy(this)}copy(e){return this.a.copy(e.a),this.b.copy(e.b),this.c.copy(e.c),this}getArea(){return wi.subVectors(this.c,this.b),qi.subVectors(this.a,this.b),wi.cross(qi).length()*.5}getMidpoint(e){return e.addVectors(this.a,this.b).add(this.c).multiplyScalar(1/3)}getNormal(e){return i.getNormal(this.a,this.b,this.c,e)}getPlane(e){return e.setFromCoplanarPoints(this.a,this.b,this.c)}getBarycoord(e,t){return i.getBarycoord(e,this.a,this.b,this.c,t)}getInterpolation(e,t,n,r,a){return i.getInterpolation(e,this.a,this.b,this.c,t,n,r,a)}containsPoint(e){return i.containsPoint(e,this.a,this.b,this.c)}isFrontFacing(e){return i.isFrontFacing(this.a,this.b,this.c,e)}intersectsBox(e){return e.intersectsTriangle(this)}closestPointToPoint(e,t){let n=this.a,r=this.b,a=this.c,l,c;bs.subVectors(r,n),Ss.subVectors(a,n),Ou.subVectors(e,n);let h=bs.dot(Ou),d=Ss.dot(Ou);if(h<=0&&d<=0)return t.copy(n);Bu.subVectors(e,r);let p=bs.dot(Bu),m=Ss.dot(Bu);if(p>=0&&m<=p)return t.copy(r);let g=h*m-p*d;if(g<=0&&h>=0&&p<=0&&h-p>0)return l=h/(h-p),t.copy(n).addScaledVector(bs,l);ku.subVectors(e,a);let v=bs.dot(ku),w=Ss.dot(ku);if(w>=0&&v<=w)return t.copy(a);let C=v*d-h*w;if(C<=0&&d>=0&&w<=0)return c=d/(d-w),t.copy(n).addScaledVector(Ss,c);let b=p*w-v*m;if(b<=0&&m-p>=0&&v-w>=0)return Rf.subVectors(a,r),c=(m-p)/(m-p+(v-w)),t.copy(r).addScaledVector(Rf,c);let y=1/(b+C+g);return l=C*y,c=g*y,t.copy(n).addScaledVector(bs,l).addScaledVector(Ss,c)}equals(e){return e.a.equals(this.a)&&e.b.equals(this.b)&&e.c.equals(this.c)}},Ni=class{constructor(e=new re(1/0,1/0,1/0),t=new re(-1/0,-1/0,-1/0)){this.isBox3=!0,this.min=e,this.max=t}set(e,t){return this.min.copy(e),this.max.copy(t),this}setFromArray(e){this.makeEmpty();for(let t=0,n=e.length;t<n;t+=3)this.expandByPoint(Mi.fromArray(e,t));return this}setFromBufferAttribute(e){this.makeEmpty();for(let t=0,n=e.count;t<n;t++)this.expandByPoint(Mi.fromBufferAttribute(e,t));return this}setFromPoints(e){this.makeEmpty();for(let t=0,n=e.length;t<n;t++)this.expandByPoint(e[t]);return this}setFromCenterAndSize(e,t){let n=Mi.copy(t).multiplyScalar(.5);return this.min.copy(e).sub(n),this.max.copy(e).add(n),this}setFromObject(e,t=!1){return this.makeEmpty(),this.expandByObject(e,t)}clone(){return new this.constructor().copy(this)}copy(e){return this.min.copy(e.min),this.max.copy(e.max),this}makeEmpty(){return this.min.x=this.min.y=this.min.z=1/0,this.max.x=this.max.y=this.max.z=-1/0,this}isEmpty(){return this.max.x<this.min.x||this.max.y<this.min.y||this.max.z<this.min.z}getCenter(e){return this.isEmpty()?e.set(0,0,0):e.addVectors(this.min,this.max).multiplyScalar(.5)}getSize(e){return this.isEmpty()?e.set(0,0,0):e.subVectors(this.max,this.min)}expandByPoint(e){return this.min.min(e),this.max.max(e),this}expandByVector(e){return this.min.sub(e),this.max.add(e),this}expandByScalar(e){return this.min.addScalar(-e),this.max.addScalar(e),this}expandByObject(e,t=!1){e.updateWorldMatrix(!1,!1);let n=e.geometry;if(n!==void 0){let a=n.getAttribute("position");if(t===!0&&a!==void 0&&e.isInstancedMesh!==!0&&e.isBatchedMesh!==!0)for(let l=0,c=a.count;l<c;l++)e.isMesh===!0?e.getVertexPosition(l,Mi):Mi.fromBufferAttribute(a,l),Mi.applyMatrix4(e.matrixWorld),this.expandByPoint(Mi);else e.boundingBox!==void 0?(e.boundingBox===null&&e.computeBoundingBox(),Oo.copy(e.boundingBox)):(n.boundingBox===null&&n.computeBoundingBox(),Oo.copy(n.boundingBox)),Oo.applyMatrix4(e.matrixWorld),this.union(Oo)}let r=e.children;for(let a=0,l=r.length;a<l;a++)this.expandByObject(r[a],t);return this}containsPoint(e){return e.x>=this.min.x&&e.x<=this.max.x&&e.y>=this.min.y&&e.y<=this.max.y&&e.z>=this.min.z&&e.z<=this.max.z}containsBox(e){return this.min.x<=e.min.x&&e.max.x<=this.max.x&&this.min.y<=e.min.y&&e.max.y<=this.max.y&&this.min.z<=e.min.z&&e.max.z<=this.max.z}getParameter(e,t){return t.set((e.x-this.min.x)/(this.max.x-this.min.x),(e.y-this.min.y)/(this.max.y-this.min.y),(e.z-this.min.z)/(this.max.z-this.min.z))}intersectsBox(e){return e.max.x>=this.min.x&&e.min.x<=this.max.x&&e.max.y>=this.min.y&&e.min.y<=this.max.y&&e.max.z>=this.min.z&&e.min.z<=this.max.z}intersectsSphere(e){return this.clampPoint(e.center,Mi),Mi.distanceToSquared(e.center)<=e.radius*e.radius}intersectsPlane(e){let t,n;return e.normal.x>0?(t=e.normal.x*this.min.x,n=e.normal.x*this.max.x):(t=e.normal.x*this.max.x,n=e.normal.x*this.min.x),e.normal.y>0?(t+=e.normal.y*this.min.y,n+=e.normal.y*this.max.y):(t+=e.normal.y*this.max.y,n+=e.normal.y*this.min.y),e.normal.z>0?(t+=e.normal.z*this.min.z,n+=e.normal.z*this.max.z):(t+=e.normal.z*this.max.z,n+=e.normal.z*this.min.z),t<=-e.constant&&n>=-e.constant}intersectsTriangle(e){if(this.isEmpty())return!1;this.getCenter(fa),Bo.subVectors(this.max,fa),ws.subVectors(e.a,fa),Ms.subVectors(e.b,fa),Es.subVectors(e.c,fa),_r.subVectors(Ms,ws),vr.subVectors(Es,Ms),Br.subVectors(ws,Es);let t=[0,-_r.z,_r.y,0,-vr.z,vr.y,0,-Br.z,Br.y,_r.z,0,-_r.x,vr.z,0,-vr.x,Br.z,0,-Br.x,-_r.y,_r.x,0,-vr.y,vr.x,0,-Br.y,Br.x,0];return!Hu(t,ws,Ms,Es,Bo)||(t=[1,0,0,0,1,0,0,0,1],!Hu(t,ws,Ms,Es,Bo))?!1:(ko.crossVectors(_r,vr),t=[ko.x,ko.y,ko.z],Hu(t,ws,Ms,Es,Bo))}clampPoint(e,t){return t.copy(e).clamp(this.min,this.max)}distanceToPoint(e){return this.clampPoint(e,Mi).distanceTo(e)}getBoundingSphere(e){return this.isEmpty()?e.makeEmpty():(this.getCenter(e.center),e.radius=this.getSize(Mi).length()*.5),e}intersect(e){return this.min.max(e.min),this.max.min(e.max),this.isEmpty()&&this.makeEmpty(),this}union(e){return this.min.min(e.min),this.max.max(e.max),this}applyMatrix4(e){return this.isEmpty()?this:(Yi[0].set(this.min.x,this.min.y,this.min.z).applyMatrix4(e),Yi[1].set(this.min.x,this.min.y,this.max.z).applyMatrix4(e),Yi[2].set(this.min.x,this.max.y,this.min.z).applyMatrix4(e),Yi[3].set(this.min.x,this.max.y,this.max.z).applyMatrix4(e),Yi[4].set(this.max.x,this.min.y,this.min.z).applyMatrix4(e),Yi[5].set(this.max.x,this.min.y,this.max.z).applyMatrix4(e),Yi[6].set(this.max.x,this.max.y,this.min.z).applyMatrix4(e),Yi[7].set(this.max.x,this.max.y,this.max.z).applyMatrix4(e),this.setFromPoints(Yi),this)}translate(e){return this.min.add(e),this.max.add(e),this}equals(e){return e.min.equals(this.min)&&e.max.equals(this.max)}toJSON(){return{min:this.min.toArray(),max:this.max.toArray()}}fromJSON(e){return this.min.fromArray(e.min),this.max.fromArray(e.max),this}},Yi=[new re,new re,new re,new re,new re,new re,new re,new re],Mi=new re,Oo=new Ni,ws=new re,Ms=new re,Es=new re,_r=new re,vr=new re,Br=new re,fa=new re,Bo=new re,ko=new re,kr=new re;function Hu(i,e,t,n,r){for(let a=0,l=i.length-3;a<=l;a+=3){kr.fromArray(i,a);let c=r.x*Math.abs(kr.x)+r.y*Math.abs(kr.y)+r.z*Math.abs(kr.z),h=e.dot(kr),d=t.dot(kr),p=n.dot(kr);if(Math.max(-Math.max(h,d,p),Math.min(h,d,p))>c)return!1}return!0}var xn=new re,zo=new Lt,Xx=0,Yn=class extends Fi{constructor(e,t,n=!1){if(super(),Array.isArray(e))throw new TypeError("THREE.BufferAttribute: array should be a Typed Array.");this.isBufferAttribute=!0,Object.defineProperty(this,"id",{value:Xx++}),this.name="",this.array=e,this.itemSize=t,this.count=e!==void 0?e.length/t:0,this.normalized=n,this.usage=Ep,this.updateRanges=[],this.gpuType=mi,this.version=0,this._normalizationScale=e!==void 0?Fh(e):void 0}onUploadCallback(){}set needsUpdate(e){e===!0&&this.version++}setUsage(e){return this.usage=e,this}addUpdateRange(e,t){this.updateRanges.push({start:e,count:t})}clearUpdateRanges(){this.updateRanges.length=0}copy(e){return this.name=e.name,this.array=new e.array.constructor(e.array),this.itemSize=e.itemSize,this.count=e.count,this.normalized=e.normalized,this.usage=e.usage,this.gpuType=e.gpuType,this._normalizationScale=e._normalizationScale,this}copyAt(e,t,n){e*=this.itemSize,n*=t.itemSize;for(let r=0,a=this.itemSize;r<a;r++)this.array[e+r]=t.array[n+r];return this}copyArray(e){return this.array.set(e),this}applyMatrix3(e){if(this.itemSize===2)for(let t=0,n=this.count;t<n;t++)zo.fromBufferAttribute(this,t),zo.applyMatrix3(e),this.setXY(t,zo.x,zo.y);else if(this.itemSize===3)for(let t=0,n=this.count;t<n;t++)xn.fromBufferAttribute(this,t),xn.applyMatrix3(e),this.setXYZ(t,xn.x,xn.y,xn.z);return this}applyMatrix4(e){for(let t=0,n=this.count;t<n;t++)xn.fromBufferAttribute(this,t),xn.applyMatrix4(e),this.setXYZ(t,xn.x,xn.y,xn.z);return this}applyNormalMatrix(e){for(let t=0,n=this.count;t<n;t++)xn.fromBufferAttribute(this,t),xn.applyNormalMatrix(e),this.setXYZ(t,xn.x,xn.y,xn.z);return this}transformDirection(e){for(let t=0,n=this.count;t<n;t++)xn.fromBufferAttribute(this,t),xn.transformDirection(e),this.setXYZ(t,xn.x,xn.y,xn.z);return this}set(e,t=0){return this.array.set(e,t),this}getComponent(e,t){let n=this.array[e*this.itemSize+t];return this.normalized&&(n=this._denormalize(n)),n}setComponent(e,t,n){return this.normalized&&(n=this._normalize(n)),this.array[e*this.itemSize+t]=n,this}getX(e){let t=this.array[e*this.itemSize];return this.normalized&&(t=this._denormalize(t)),t}setX(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize]=t,this}getY(e){let t=this.array[e*this.itemSize+1];return this.normalized&&(t=this._denormalize(t)),t}setY(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize+1]=t,this}getZ(e){let t=this.array[e*this.itemSize+2];return this.normalized&&(t=this._denormalize(t)),t}setZ(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize+2]=t,this}getW(e){let t=this.array[e*this.itemSize+3];return this.normalized&&(t=this._denormalize(t)),t}setW(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize+3]=t,this}setXY(e,t,n){return e*=this.itemSize,this.normalized&&(t=this._normalize(t),n=this._normalize(n)),this.array[e+0]=t,this.array[e+1]=n,this}setXYZ(e,t,n,r){return e*=this.itemSize,this.normalized&&(t=this._normalize(t),n=this._normalize(n),r=this._normalize(r)),this.array[e+0]=t,this.array[e+1]=n,this.array[e+2]=r,this}setXYZW(e,t,n,r,a){return e*=this.itemSize,this.normalized&&(t=this._normalize(t),n=this._normalize(n),r=this._normalize(r),a=this._normalize(a)),this.array[e+0]=t,this.array[e+1]=n,this.array[e+2]=r,this.array[e+3]=a,this}onUpload(e){return this.onUploadCallback=e,this}clone(){return new this.constructor(this.array,this.itemSize).copy(this)}toJSON(){let e={itemSize:this.itemSize,type:this.array.constructor.name,array:Array.from(this.array),normalized:this.normalized};return e.name=this.name,e.usage=this.usage,e.gpuType=this.gpuType,e}dispose(){this.dispatchEvent({type:"dispose"})}_denormalize(e){let t=this._normalizationScale;return t!==void 0?Math.max(e/t,-1):Pp(e,this.array)}_normalize(e){let t=this._normalizationScale;return t!==void 0?Math.round(e*t):Ip(e,this.array)}};var Ca=class extends Yn{constructor(e,t,n){super(new Uint16Array(e),t,n)}};var Pa=class extends Yn{constructor(e,t,n){super(new Uint32Array(e),t,n)}};var mn=class extends Yn{constructor(e,t,n){super(new Float32Array(e),t,n)}},qx=new Ni,pa=new re,Wu=new re,tr=class{constructor(e=new re,t=-1){this.isSphere=!0,this.center=e,this.radius=t}set(e,t){return this.center.copy(e),this.radius=t,this}setFromPoints(e,t){let n=this.center;t!==void 0?n.copy(t):qx.setFromPoints(e).getCenter(n);let r=0;for(let a=0,l=e.length;a<l;a++)r=Math.max(r,n.distanceToSquared(e[a]));return this.radius=Math.sqrt(r),this}copy(e){return this.center.copy(e.center),this.radius=e.radius,this}isEmpty(){return this.radius<0}makeEmpty(){return this.center.set(0,0,0),this.radius=-1,this}containsPoint(e){return e.distanceToSquared(this.center)<=this.radius*this.radius}distanceToPoint(e){return e.distanceTo(this.center)-this.radius}intersectsSphere(e){let t=this.radius+e.radius;return e.center.distanceToSquared(this.center)<=t*t}intersectsBox(e){return e.intersectsSphere(this)}intersectsPlane(e){return Math.abs(e.distanceToPoint(this.center))<=this.radius}clampPoint(e,t){let n=this.center.distanceToSquared(e);return t.copy(e),n>this.radius*this.radius&&(t.sub(this.center).normalize(),t.multiplyScalar(this.radius).add(this.center)),t}getBoundingBox(e){return this.isEmpty()?(e.makeEmpty(),e):(e.set(this.center,this.center),e.expandByScalar(this.radius),e)}applyMatrix4(e){return this.center.applyMatrix4(e),this.radius=this.radius*e.getMaxScaleOnAxis(),this}translate(e){return this.center.add(e),this}expandByPoint(e){if(this.isEmpty())return this.center.copy(e),this.radius=0,this;pa.subVectors(e,this.center);let t=pa.lengthSq();if(t>this.radius*this.radius){let n=Math.sqrt(t),r=(n-this.radius)*.5;this.center.addScaledVector(pa,r/n),this.radius+=r}return this}union(e){return e.isEmpty()?this:this.isEmpty()?(this.copy(e),this):(this.center.equals(e.center)===!0?this.radius=Math.max(this.radius,e.radius):(Wu.subVectors(e.center,this.center).setLength(e.radius),this.expandByPoint(pa.copy(e.center).add(Wu)),this.expandByPoint(pa.copy(e.center).sub(Wu))),this)}equals(e){return e.center.equals(this.center)&&e.radius===this.radius}clone(){return new this.constructor().copy(this)}toJSON(){return{radius:this.radius,center:this.center.toArray()}}fromJSON(e){return this.radius=e.radius,this.center.fromArray(e.center),this}},jx=0,di=new Yt,$u=new An,Ts=new re,ti=new Ni,ma=new Ni,En=new re,$n=class i extends Fi{constructor(){super(),this.isBufferGeometry=!0,Object.defineProperty(this,"id",{value:jx++}),this.uuid=Xs(),this.name="",this.type="BufferGeometry",this.index=null,this.indirect=null,this.indirectOffset=0,this.attributes={},this.morphAttributes={},this.morphTargetsRelative=!1,this.groups=[],this.boundingBox=null,this.boundingSphere=null,this.drawRange={start:0,count:1/0},this.userData={},this._transformed=!1}getIndex(){return this.index}setIndex(e){return Array.isArray(e)?this.index=new(yx(e)?Pa:Ca)(e,1):this.index=e,this}setIndirect(e,t=0){return this.indirect=e,this.indirectOffset=t,this}getIndirect(){return this.indirect}getAttribute(e){return this.attributes[e]}setAttribute(e,t){return this.attributes[e]=t,this}deleteAttribute(e){return delete this.attributes[e],this}hasAttribute(e){return this.attributes[e]!==void 0}addGroup(e,t,n=0){this.groups.push({start:e,count:t,materialIndex:n})}clearGroups(){this.groups=[]}setDrawRange(e,t){this.drawRange.start=e,this.drawRange.count=t}applyMatrix4(e){let t=this.attributes.position;t!==void 0&&(t.applyMatrix4(e),t.needsUpdate=!0);let n=this.attributes.normal;if(n!==void 0){let a=new yt().getNormalMatrix(e);n.applyNormalMatrix(a),n.needsUpdate=!0}let r=this.attributes.tangent;return r!==void 0&&(r.transformDirection(e),r.needsUpdate=!0),this.boundingBox!==null&&this.computeBoundingBox(),this.boundingSphere!==null&&this.computeBoundingSphere(),this._transformed=!0,this}applyQuaternion(e){return di.makeRotationFromQuaternion(e),this.applyMatrix4(di),this}rotateX(e){return di.makeRotationX(e),this.applyMatrix4(di),this}rotateY(e){return di.makeRotationY(e),this.applyMatrix4(di),this}rotateZ(e){return di.makeRotationZ(e),this.applyMatrix4(di),this}translate(e,t,n){return di.makeTranslation(e,t,n),this.applyMatrix4(di),this}scale(e,t,n){return di.makeScale(e,t,n),this.applyMatrix4(di),this}lookAt(e){return $u.lookAt(e),$u.updateMatrix(),this.applyMatrix4($u.matrix),this}center(){return this.computeBoundingBox(),this.boundingBox.getCenter(Ts).negate(),this.translate(Ts.x,Ts.y,Ts.z),this}setFromPoints(e){let t=this.getAttribute("position");if(t===void 0){let n=[];for(let r=0,a=e.length;r<a;r++){let l=e[r];n.push(l.x,l.y,l.z||0)}this.setAttribute("position",new mn(n,3))}else{let n=Math.min(e.length,t.count);for(let r=0;r<n;r++){let a=e[r];t.setXYZ(r,a.x,a.y,a.z||0)}e.length>t.count&&ht("BufferGeometry: Buffer size too small for points data. Use .dispose() and create a new geometry."),t.needsUpdate=!0}return this}computeBoundingBox(){this.boundingBox===null&&(this.boundingBox=new Ni);let e=this.attributes.position,t=this.morphAttributes.position;if(e&&e.isGLBufferAttribute){pt("BufferGeometry.computeBoundingBox(): GLBufferAttribute requires a manual bounding box.",this),this.boundingBox.set(new re(-1/0,-1/0,-1/0),new re(1/0,1/0,1/0));return}if(e!==void 0){if(this.boundingBox.setFromBufferAttribute(e),t)for(let n=0,r=t.length;n<r;n++){let a=t[n];ti.setFromBufferAttribute(a),this.morphTargetsRelative?(En.addVectors(this.boundingBox.min,ti.min),this.boundingBox.expandByPoint(En),En.addVectors(this.boundingBox.max,ti.max),this.boundingBox.expandByPoint(En)):(this.boundingBox.expandByPoint(ti.min),this.boundingBox.expandByPoint(ti.max))}}else this.boundingBox.makeEmpty();(isNaN(this.boundingBox.min.x)||isNaN(this.boundingBox.min.y)||isNaN(this.boundingBox.min.z))&&pt('BufferGeometry.computeBoundingBox(): Computed min/max have NaN values. The "position" attribute is likely to have NaN values.',this)}computeBoundingSphere(){this.boundingSphere===null&&(this.boundingSphere=new tr);let e=this.attributes.position,t=this.morphAttributes.position;if(e&&e.isGLBufferAttribute){pt("BufferGeometry.computeBoundingSphere(): GLBufferAttribute requires a manual bounding sphere.",this),this.boundingSphere.set(new re,1/0);return}if(e){let n=this.boundingSphere.center;if(ti.setFromBufferAttribute(e),t)for(let a=0,l=t.length;a<l;a++){let c=t[a];ma.setFromBufferAttribute(c),this.morphTargetsRelative?(En.addVectors(ti.min,ma.min),ti.expandByPoint(En),En.addVectors(ti.max,ma.max),ti.expandByPoint(En)):(ti.expandByPoint(ma.min),ti.expandByPoint(ma.max))}ti.getCenter(n);let r=0;for(let a=0,l=e.count;a<l;a++)En.fromBufferAttribute(e,a),r=Math.max(r,n.distanceToSquared(En));if(t)for(let a=0,l=t.length;a<l;a++){let c=t[a],h=this.morphTargetsRelative;for(let d=0,p=c.count;d<p;d++)En.fromBufferAttribute(c,d),h&&(Ts.fromBufferAttribute(e,d),En.add(Ts)),r=Math.max(r,n.distanceToSquared(En))}this.boundingSphere.radius=Math.sqrt(r),isNaN(this.boundingSphere.radius)&&pt('BufferGeometry.computeBoundingSphere(): Computed radius is NaN. The "position" attribute is likely to have NaN values.',this)}}computeTangents(){let e=this.index,t=this.attributes;if(e===null||t.position===void 0||t.normal===void 0||t.uv===void 0){pt("BufferGeometry: .computeTangents() failed. Missing required attributes (index, position, normal or uv)");return}let n=t.position,r=t.normal,a=t.uv,l=this.getAttribute("tangent");(l===void 0||l.count!==n.count)&&(l=new Yn(new Float32Array(4*n.count),4),this.setAttribute("tangent",l));let c=[],h=[],d=new Uint8Array(n.count);for(let J=0;J<n.count;J++)c[J]=new re,h[J]=new re;let p=new re,m=new re,g=new re,v=new Lt,w=new Lt,C=new Lt,b=new re,y=new re;function D(J,V,ee){d[J]=d[V]=d[ee]=1,p.fromBufferAttribute(n,J),m.fromBufferAttribute(n,V),g.fromBufferAttribute(n,ee),v.fromBufferAttribute(a,J),w.fromBufferAttribute(a,V),C.fromBufferAttribute(a,ee),m.sub(p),g.sub(p),w.sub(v),C.sub(v);let q=1/(w.x*C.y-C.x*w.y);isFinite(q)&&(b.copy(m).multiplyScalar(C.y).addScaledVector(g,-w.y).multiplyScalar(q),y.copy(g).multiplyScalar(w.x).addScaledVector(m,-C.x).multiplyScalar(q),c[J].add(b),c[V].add(b),c[ee].add(b),h[J].add(y),h[V].add(y),h[ee].add(y))}let U=this.groups;U.length===0&&(U=[{start:0,count:e.count}]);for(let J=0,V=U.length;J<V;++J){let ee=U[J],q=ee.start,ne=ee.count;for(let X=q,te=q+ne;X<te;X+=3)D(e.getX(X+0),e.getX(X+1),e.getX(X+2))}let F=new re,k=new re,L=new re,E=new re;function N(J){L.fromBufferAttribute(r,J),E.copy(L);let V=c[J];F.copy(V),F.sub(L.multiplyScalar(L.dot(V))).normalize(),k.crossVectors(E,V);let q=k.dot(h[J])<0?-1:1;l.setXYZW(J,F.x,F.y,F.z,q)}for(let J=0,V=n.count;J<V;++J)d[J]&&N(J);this._transformed=!0}computeVertexNormals(){let e=this.index,t=this.getAttribute("position");if(t!==void 0){let n=this.getAttribute("normal");if(n===void 0||n.count!==t.count)n=new Yn(new Float32Array(t.count*3),3),this.setAttribute("normal",n);else for(let g=0,v=n.count;g<v;g++)n.setXYZ(g,0,0,0);let r=new re,a=new re,l=new re,c=new re,h=new re,d=new re,p=new re,m=new re;if(e)for(let g=0,v=e.count;g<v;g+=3){let w=e.getX(g+0),C=e.getX(g+1),b=e.getX(g+2);r.fromBufferAttribute(t,w),a.fromBufferAttribute(t,C),l.fromBufferAttribute(t,b),p.subVectors(l,a),m.subVectors(r,a),p.cross(m),c.fromBufferAttribute(n,w),h.fromBufferAttribute(n,C),d.fromBufferAttribute(n,b),c.add(p),h.add(p),d.add(p),n.setXYZ(w,c.x,c.y,c.z),n.setXYZ(C,h.x,h.y,h.z),n.setXYZ(b,d.x,d.y,d.z)}else for(let g=0,v=t.count;g<v;g+=3)r.fromBufferAttribute(t,g+0),a.fromBufferAttribute(t,g+1),l.fromBufferAttribute(t,g+2),p.subVectors(l,a),m.subVectors(r,a),p.cross(m),n.setXYZ(g+0,p.x,p.y,p.z),n.setXYZ(g+1,p.x,p.y,p.z),n.setXYZ(g+2,p.x,p.y,p.z);this.normalizeNormals(),n.needsUpdate=!0}}normalizeNormals(){let e=this.attributes.normal;for(let t=0,n=e.count;t<n;t++)En.fromBufferAttribute(e,t),En.normalize(),e.setXYZ(t,En.x,En.y,En.z)}toNonIndexed(){function e(c,h){let d=c.array,p=c.itemSize,m=c.normalized,g=new d.constructor(h.length*p),v=0,w=0;for(let C=0,b=h.length;C<b;C++){c.isInterleavedBufferAttribute?v=h[C]*c.data.stride+c.offset:v=h[C]*p;for(let y=0;y<p;y++)g[w++]=d[v++]}return new Yn(g,p,m)}if(this.index===null)return ht("BufferGeometry.toNonIndexed(): BufferGeometry is already non-indexed."),this;let t=new i,n=this.index.array,r=this.attributes;for(let c in r){let h=r[c],d=e(h,n);t.setAttribute(c,d)}let a=this.morphAttributes;for(let c in a){let h=[],d=a[c];for(let p=0,m=d.length;p<m;p++){let g=d[p],v=e(g,n);h.push(v)}t.morphAttributes[c]=h}t.morphTargetsRelative=this.morphTargetsRelative;let l=this.groups;for(let c=0,h=l.length;c<h;c++){let d=l[c];t.addGroup(d.start,d.count,d.materialIndex)}return t}toJSON(){let e={metadata:{version:4.7,type:"BufferGeometry",generator:"BufferGeometry.toJSON"}};if(e.uuid=this.uuid,e.type=this.parameters!==void 0&&this._transformed===!0?"BufferGeometry":this.type,e.name=this.name,Object.keys(this.userData).length>0&&(e.userData=this.userData),this.parameters!==void 0&&this._transformed!==!0){let h=this.parameters;for(let d in h)h[d]!==void 0&&(e[d]=h[d]);return e}e.data={attributes:{}};let t=this.index;t!==null&&(e.data.index={type:t.array.constructor.name,array:Array.prototype.slice.call(t.array)});let n=this.attributes;for(let h in n){let d=n[h];e.data.attributes[h]=d.toJSON(e.data)}let r={},a=!1;for(let h in this.morphAttributes){let d=this.morphAttributes[h],p=[];for(let m=0,g=d.length;m<g;m++){let v=d[m];p.push(v.toJSON(e.data))}p.length>0&&(r[h]=p,a=!0)}a&&(e.data.morphAttributes=r,e.data.morphTargetsRelative=this.morphTargetsRelative);let l=this.groups;l.length>0&&(e.data.groups=JSON.parse(JSON.stringify(l)));let c=this.boundingSphere;return c!==null&&(e.data.boundingSphere=c.toJSON()),e}clone(){return new this.constructor().copy(this)}copy(e){this.index=null,this.attributes={},this.morphAttributes={},this.groups=[],this.boundingBox=null,this.boundingSphere=null;let t={};this.name=e.name;let n=e.index;n!==null&&this.setIndex(n.clone());let r=e.attributes;for(let d in r){let p=r[d];this.setAttribute(d,p.clone(t))}let a=e.morphAttributes;for(let d in a){let p=[],m=a[d];for(let g=0,v=m.length;g<v;g++)p.push(m[g].clone(t));this.morphAttributes[d]=p}this.morphTargetsRelative=e.morphTargetsRelative;let l=e.groups;for(let d=0,p=l.length;d<p;d++){let m=l[d];this.addGroup(m.start,m.count,m.materialIndex)}let c=e.boundingBox;c!==null&&(this.boundingBox=c.clone());let h=e.boundingSphere;return h!==null&&(this.boundingSphere=h.clone()),this.drawRange.start=e.drawRange.start,this.drawRange.count=e.drawRange.count,this.userData=e.userData,this._transformed=e._transformed,this}dispose(){this.dispatchEvent({type:"dispose"})}};var Xu=new re,Yx=new re,Jx=new yt,ni=class{constructor(e=new re(1,0,0),t=0){this.isPlane=!0,this.normal=e,this.constant=t}set(e,t){return this.normal.copy(e),this.constant=t,this}setComponents(e,t,n,r){return this.normal.set(e,t,n),this.constant=r,this}setFromNormalAndCoplanarPoint(e,t){return this.normal.copy(e),this.constant=-t.dot(this.normal),this}setFromCoplanarPoints(e,t,n){let r=Xu.subVectors(n,t).cross(Yx.subVectors(e,t)).normalize();return this.setFromNormalAndCoplanarPoint(r,e),this}copy(e){return this.normal.copy(e.normal),this.constant=e.constant,this}normalize(){let e=1/this.normal.length();return this.normal.multiplyScalar(e),this.constant*=e,this}negate(){return this.constant*=-1,this.normal.negate(),this}distanceToPoint(e){return this.normal.dot(e)+this.constant}distanceToSphere(e){return this.distanceToPoint(e.center)-e.radius}projectPoint(e,t){return t.copy(e).addScaledVector(this.normal,-this.distanceToPoint(e))}intersectLine(e,t,n=!0){let r=e.delta(Xu),a=this.normal.dot(r);if(a===0)return this.distanceToPoint(e.start)===0?t.copy(e.start):null;let l=-(e.start.dot(this.normal)+this.constant)/a;return n===!0&&(l<0||l>1)?null:t.copy(e.start).addScaledVector(r,l)}intersectsLine(e){let t=this.distanceToPoint(e.start),n=this.distanceToPoint(e.end);return t<0&&n>0||n<0&&t>0}intersectsBox(e){return e.intersectsPlane(this)}intersectsSphere(e){return e.intersectsPlane(this)}coplanarPoint(e){return e.copy(this.normal).multiplyScalar(-this.constant)}applyMatrix4(e,t){let n=t||Jx.getNormalMatrix(e),r=this.coplanarPoint(Xu).applyMatrix4(e),a=this.normal.applyMatrix3(n).normalize();return this.constant=-r.dot(a),this}translate(e){return this.constant-=e.dot(this.normal),this}equals(e){return e.normal.equals(this.normal)&&e.constant===this.constant}clone(){return new this.constructor().copy(this)}toJSON(){return{normal:this.normal.toArray(),constant:this.constant}}fromJSON(e){return this.normal.fromArray(e.normal),this.constant=e.constant,this}},Zx=0,nr=class extends Fi{constructor(){super(),this.isMaterial=!0,Object.defineProperty(this,"id",{value:Zx++}),this.uuid=Xs(),this.name="",this.type="Material",this.blending=Hs,this.side=Rr,this.vertexColors=!1,this.opacity=1,this.transparent=!1,this.alphaHash=!1,this.blendSrc=uh,this.blendDst=hh,this.blendEquation=Xr,this.blendSrcAlpha=null,this.blendDstAlpha=null,this.blendEquationAlpha=null,this.blendColor=new wt(0,0,0),this.blendAlpha=0,this.depthFunc=Ls,this.depthTest=!0,this.depthWrite=!0,this.stencilWriteMask=255,this.stencilFunc=yp,this.stencilRef=0,this.stencilFuncMask=255,this.stencilFail=sl,this.stencilZFail=sl,this.stencilZPass=sl,this.stencilWrite=!1,this.clippingPlanes=null,this.clipIntersection=!1,this.clipShadows=!1,this.shadowSide=null,this.colorWrite=!0,this.precision=null,this.polygonOffset=!1,this.polygonOffsetFactor=0,this.polygonOffsetUnits=0,this.dithering=!1,this.alphaToCoverage=!1,this.premultipliedAlpha=!1,this.forceSinglePass=!1,this.allowOverride=!0,this.visible=!0,this.toneMapped=!0,this.userData={},this.version=0,this._alphaTest=0}get alphaTest(){return this._alphaTest}set alphaTest(e){this._alphaTest>0!=e>0&&this.version++,this._alphaTest=e}onBeforeRender(){}onBeforeCompile(){}customProgramCacheKey(){return this.onBeforeCompile.toString()}setValues(e){if(e!==void 0)for(let t in e){let n=e[t];if(n===void 0){ht(`Material: parameter '${t}' has value of undefined.`);continue}let r=this[t];if(r===void 0){ht(`Material: '${t}' is not a property of THREE.${this.type}.`);continue}r&&r.isColor?r.set(n):r&&r.isVector2&&n&&n.isVector2||r&&r.isEuler&&n&&n.isEuler||r&&r.isVector3&&n&&n.isVector3?r.copy(n):this[t]=n}}toJSON(e){let t=e===void 0||typeof e=="string";t&&(e={textures:{},images:{}});let n={metadata:{version:4.7,type:"Material",generator:"Material.toJSON"}};n.uuid=this.uuid,n.type=this.type,n.blending=this.blending,n.side=this.side,n.shadowSide=this.shadowSide,n.vertexColors=this.vertexColors,n.opacity=this.opacity,n.transparent=this.transparent,n.blendSrc=this.blendSrc,n.blendDst=this.blendDst,n.blendEquation=this.blendEquation,n.blendSrcAlpha=this.blendSrcAlpha,n.blendDstAlpha=this.blendDstAlpha,n.blendEquationAlpha=this.blendEquationAlpha,n.blendColor=this.blendColor.getHex(),n.blendAlpha=this.blendAlpha,n.depthFunc=this.depthFunc,n.depthTest=this.depthTest,n.depthWrite=this.depthWrite,n.colorWrite=this.colorWrite,n.clipIntersection=this.clipIntersection,n.clipShadows=this.clipShadows,n.stencilWriteMask=this.stencilWriteMask,n.stencilFunc=this.stencilFunc,n.stencilRef=this.stencilRef,n.stencilFuncMask=this.stencilFuncMask,n.stencilFail=this.stencilFail,n.stencilZFail=this.stencilZFail,n.stencilZPass=this.stencilZPass,n.stencilWrite=this.stencilWrite,n.polygonOffset=this.polygonOffset,n.polygonOffsetFactor=this.polygonOffsetFactor,n.polygonOffsetUnits=this.polygonOffsetUnits,n.dithering=this.dithering,n.alphaTest=this.alphaTest,n.alphaHash=this.alphaHash,n.alphaToCoverage=this.alphaToCoverage,n.premultipliedAlpha=this.premultipliedAlpha,n.forceSinglePass=this.forceSinglePass,n.allowOverride=this.allowOverride,n.visible=this.visible,n.toneMapped=this.toneMapped,n.name=this.name,this.color&&this.color.isColor&&(n.color=this.color.getHex()),this.roughness!==void 0&&(n.roughness=this.roughness),this.metalness!==void 0&&(n.metalness=this.metalness),this.sheen!==void 0&&(n.sheen=this.sheen),this.sheenColor&&this.sheenColor.isColor&&(n.sheenColor=this.sheenColor.getHex()),this.sheenRoughness!==void 0&&(n.sheenRoughness=this.sheenRoughness),this.emissive&&this.emissive.isColor&&(n.emissive=this.emissive.getHex()),this.emissiveIntensity!==void 0&&(n.emissiveIntensity=this.emissiveIntensity),this.specular&&this.specular.isColor&&(n.specular=this.specular.getHex()),this.specularIntensity!==void 0&&(n.specularIntensity=this.specularIntensity),this.specularColor&&this.specularColor.isColor&&(n.specularColor=this.specularColor.getHex()),this.shininess!==void 0&&(n.shininess=this.shininess),this.clearcoat!==void 0&&(n.clearcoat=this.clearcoat),this.clearcoatRoughness!==void 0&&(n.clearcoatRoughness=this.clearcoatRoughness),this.diffuseRoughness!==void 0&&(n.diffuseRoughness=this.diffuseRoughness),this.diffuseRoughnessMap&&this.diffuseRoughnessMap.isTexture&&(n.diffuseRoughnessMap=this.diffuseRoughnessMap.toJSON(e).uuid),this.clearcoatMap&&this.clearcoatMap.isTexture&&(n.clearcoatMap=this.clearcoatMap.toJSON(e).uuid),this.clearcoatRoughnessMap&&this.clearcoatRoughnessMap.isTexture&&(n.clearcoatRoughnessMap=this.clearcoatRoughnessMap.toJSON(e).uuid),this.clearcoatNormalMap&&this.clearcoatNormalMap.isTexture&&(n.clearcoatNormalMap=this.clearcoatNormalMap.toJSON(e).uuid,n.clearcoatNormalScale=this.clearcoatNormalScale.toArray()),this.sheenColorMap&&this.sheenColorMap.isTexture&&(n.sheenColorMap=this.sheenColorMap.toJSON(e).uuid),this.sheenRoughnessMap&&this.sheenRoughnessMap.isTexture&&(n.sheenRoughnessMap=this.sheenRoughnessMap.toJSON(e).uuid),this.dispersion!==void 0&&(n.dispersion=this.dispersion),this.retroreflectivity!==void 0&&(n.retroreflectivity=this.retroreflectivity),this.iridescence!==void 0&&(n.iridescence=this.iridescence),this.iridescenceIOR!==void 0&&(n.iridescenceIOR=this.iridescenceIOR),this.iridescenceThicknessMinimum!==void 0&&(n.iridescenceThicknessMinimum=this.iridescenceThicknessMinimum),this.iridescenceThicknessMaximum!==void 0&&(n.iridescenceThicknessMaximum=this.iridescenceThicknessMaximum),this.iridescenceMap&&this.iridescenceMap.isTexture&&(n.iridescenceMap=this.iridescenceMap.toJSON(e).uuid),this.iridescenceThicknessMap&&this.iridescenceThicknessMap.isTexture&&(n.iridescenceThicknessMap=this.iridescenceThicknessMap.toJSON(e).uuid),this.anisotropy!==void 0&&(n.anisotropy=this.anisotropy),this.anisotropyRotation!==void 0&&(n.anisotropyRotation=this.anisotropyRotation),this.anisotropyMap&&this.anisotropyMap.isTexture&&(n.anisotropyMap=this.anisotropyMap.toJSON(e).uuid),this.map&&this.map.isTexture&&(n.map=this.map.toJSON(e).uuid),this.matcap&&this.matcap.isTexture&&(n.matcap=this.matcap.toJSON(e).uuid),this.alphaMap&&this.alphaMap.isTexture&&(n.alphaMap=this.alphaMap.toJSON(e).uuid),this.lightMap&&this.lightMap.isTexture&&(n.lightMap=this.lightMap.toJSON(e).uuid,n.lightMapIntensity=this.lightMapIntensity),this.aoMap&&this.aoMap.isTexture&&(n.aoMap=this.aoMap.toJSON(e).uuid,n.aoMapIntensity=this.aoMapIntensity),this.bumpMap&&this.bumpMap.isTexture&&(n.bumpMap=this.bumpMap.toJSON(e).uuid,n.bumpScale=this.bumpScale),this.normalMap&&this.normalMap.isTexture&&(n.normalMap=this.normalMap.toJSON(e).uuid,n.normalMapType=this.normalMapType,n.normalScale=this.normalScale.toArray()),this.displacementMap&&this.displacementMap.isTexture&&(n.displacementMap=this.displacementMap.toJSON(e).uuid,n.displacementScale=this.displacementScale,n.displacementBias=this.displacementBias),this.roughnessMap&&this.roughnessMap.isTexture&&(n.roughnessMap=this.roughnessMap.toJSON(e).uuid),this.metalnessMap&&this.metalnessMap.isTexture&&(n.metalnessMap=this.metalnessMap.toJSON(e).uuid),this.emissiveMap&&this.emissiveMap.isTexture&&(n.emissiveMap=this.emissiveMap.toJSON(e).uuid),this.specularMap&&this.specularMap.isTexture&&(n.specularMap=this.specularMap.toJSON(e).uuid),this.specularIntensityMap&&this.specularIntensityMap.isTexture&&(n.specularIntensityMap=this.specularIntensityMap.toJSON(e).uuid),this.specularColorMap&&this.specularColorMap.isTexture&&(n.specularColorMap=this.specularColorMap.toJSON(e).uuid),this.envMap&&this.envMap.isTexture&&(n.envMap=this.envMap.toJSON(e).uuid,this.combine!==void 0&&(n.combine=this.combine)),this.envMapRotation!==void 0&&(n.envMapRotation=this.envMapRotation.toArray()),this.envMapIntensity!==void 0&&(n.envMapIntensity=this.envMapIntensity),this.reflectivity!==void 0&&(n.reflectivity=this.reflectivity),this.refractionRatio!==void 0&&(n.refractionRatio=this.refractionRatio),this.gradientMap&&this.gradientMap.isTexture&&(n.gradientMap=this.gradientMap.toJSON(e).uuid),this.transmission!==void 0&&(n.transmission=this.transmission),this.transmissionMap&&this.transmissionMap.isTexture&&(n.transmissionMap=this.transmissionMap.toJSON(e).uuid),this.thickness!==void 0&&(n.thickness=this.thickness),this.thicknessMap&&this.thicknessMap.isTexture&&(n.thicknessMap=this.thicknessMap.toJSON(e).uuid),this.attenuationDistance!==void 0&&(n.attenuationDistance=this.attenuationDistance),this.attenuationColor!==void 0&&(n.attenuationColor=this.attenuationColor.getHex()),this.size!==void 0&&(n.size=this.size),this.sizeAttenuation!==void 0&&(n.sizeAttenuation=this.sizeAttenuation),Array.isArray(this.clippingPlanes)&&this.clippingPlanes.length>0&&(n.clippingPlanes=this.clippingPlanes.map(a=>a.toJSON())),this.rotation!==void 0&&(n.rotation=this.rotation),this.depthPacking!==void 0&&(n.depthPacking=this.depthPacking),this.linewidth!==void 0&&(n.linewidth=this.linewidth),this.linecap!==void 0&&(n.linecap=this.linecap),this.linejoin!==void 0&&(n.linejoin=this.linejoin),this.dashSize!==void 0&&(n.dashSize=this.dashSize),this.gapSize!==void 0&&(n.gapSize=this.gapSize),this.scale!==void 0&&(n.scale=this.scale),this.wireframe!==void 0&&(n.wireframe=this.wireframe),this.wireframeLinewidth!==void 0&&(n.wireframeLinewidth=this.wireframeLinewidth),this.wireframeLinecap!==void 0&&(n.wireframeLinecap=this.wireframeLinecap),this.wireframeLinejoin!==void 0&&(n.wireframeLinejoin=this.wireframeLinejoin),this.flatShading!==void 0&&(n.flatShading=this.flatShading),this.fog!==void 0&&(n.fog=this.fog),Object.keys(this.userData).length>0&&(n.userData=this.userData);function r(a){let l=[];for(let c in a){let h=a[c];delete h.metadata,l.push(h)}return l}if(t){let a=r(e.textures),l=r(e.images);a.length>0&&(n.textures=a),l.length>0&&(n.images=l)}return n}fromJSON(e,t){if(e.uuid!==void 0&&(this.uuid=e.uuid),e.name!==void 0&&(this.name=e.name),e.color!==void 0&&this.color!==void 0&&this.color.setHex(e.color),e.roughness!==void 0&&(this.roughness=e.roughness),e.metalness!==void 0&&(this.metalness=e.metalness),e.sheen!==void 0&&(this.sheen=e.sheen),e.sheenColor!==void 0&&(this.sheenColor=new wt().setHex(e.sheenColor)),e.sheenRoughness!==void 0&&(this.sheenRoughness=e.sheenRoughness),e.emissive!==void 0&&this.emissive!==void 0&&this.emissive.setHex(e.emissive),e.specular!==void 0&&this.specular!==void 0&&this.specular.setHex(e.specular),e.specularIntensity!==void 0&&(this.specularIntensity=e.specularIntensity),e.specularColor!==void 0&&this.specularColor!==void 0&&this.specularColor.setHex(e.specularColor),e.shininess!==void 0&&(this.shininess=e.shininess),e.clearcoat!==void 0&&(this.clearcoat=e.clearcoat),e.clearcoatRoughness!==void 0&&(this.clearcoatRoughness=e.clearcoatRoughness),e.diffuseRoughness!==void 0&&(this.diffuseRoughness=e.diffuseRoughness),e.dispersion!==void 0&&(this.dispersion=e.dispersion),e.retroreflectivity!==void 0&&(this.retroreflectivity=e.retroreflectivity),e.iridescence!==void 0&&(this.iridescence=e.iridescence),e.iridescenceIOR!==void 0&&(this.iridescenceIOR=e.iridescenceIOR),e.iridescenceThicknessMinimum!==void 0&&(this.iridescenceThicknessMinimum=e.iridescenceThicknessMinimum),e.iridescenceThicknessMaximum!==void 0&&(this.iridescenceThicknessMaximum=e.iridescenceThicknessMaximum),e.iridescenceThicknessRange!==void 0&&(this.iridescenceThicknessMinimum=e.iridescenceThicknessRange[0],this.iridescenceThicknessMaximum=e.iridescenceThicknessRange[1]),e.transmission!==void 0&&(this.transmission=e.transmission),e.thickness!==void 0&&(this.thickness=e.thickness),e.attenuationDistance!==void 0&&(this.attenuationDistance=e.attenuationDistance),e.attenuationColor!==void 0&&this.attenuationColor!==void 0&&this.attenuationColor.setHex(e.attenuationColor),e.anisotropy!==void 0&&(this.anisotropy=e.anisotropy),e.anisotropyRotation!==void 0&&(this.anisotropyRotation=e.anisotropyRotation),e.fog!==void 0&&(this.fog=e.fog),e.flatShading!==void 0&&(this.flatShading=e.flatShading),e.blending!==void 0&&(this.blending=e.blending),e.combine!==void 0&&(this.combine=e.combine),e.side!==void 0&&(this.side=e.side),e.shadowSide!==void 0&&(this.shadowSide=e.shadowSide),e.opacity!==void 0&&(this.opacity=e.opacity),e.transparent!==void 0&&(this.transparent=e.transparent),e.alphaTest!==void 0&&(this.alphaTest=e.alphaTest),e.alphaHash!==void 0&&(this.alphaHash=e.alphaHash),e.depthFunc!==void 0&&(this.depthFunc=e.depthFunc),e.depthTest!==void 0&&(this.depthTest=e.depthTest),e.depthWrite!==void 0&&(this.depthWrite=e.depthWrite),e.colorWrite!==void 0&&(this.colorWrite=e.colorWrite),e.clippingPlanes!==void 0&&(this.clippingPlanes=e.clippingPlanes.map(n=>new ni().fromJSON(n))),e.clipIntersection!==void 0&&(this.clipIntersection=e.clipIntersection),e.clipShadows!==void 0&&(this.clipShadows=e.clipShadows),e.depthPacking!==void 0&&(this.depthPacking=e.depthPacking),e.blendSrc!==void 0&&(this.blendSrc=e.blendSrc),e.blendDst!==void 0&&(this.blendDst=e.blendDst),e.blendEquation!==void 0&&(this.blendEquation=e.blendEquation),e.blendSrcAlpha!==void 0&&(this.blendSrcAlpha=e.blendSrcAlpha),e.blendDstAlpha!==void 0&&(this.blendDstAlpha=e.blendDstAlpha),e.blendEquationAlpha!==void 0&&(this.blendEquationAlpha=e.blendEquationAlpha),e.blendColor!==void 0&&this.blendColor!==void 0&&this.blendColor.setHex(e.blendColor),e.blendAlpha!==void 0&&(this.blendAlpha=e.blendAlpha),e.stencilWriteMask!==void 0&&(this.stencilWriteMask=e.stencilWriteMask),e.stencilFunc!==void 0&&(this.stencilFunc=e.stencilFunc),e.stencilRef!==void 0&&(this.stencilRef=e.stencilRef),e.stencilFuncMask!==void 0&&(this.stencilFuncMask=e.stencilFuncMask),e.stencilFail!==void 0&&(this.stencilFail=e.stencilFail),e.stencilZFail!==void 0&&(this.stencilZFail=e.stencilZFail),e.stencilZPass!==void 0&&(this.stencilZPass=e.stencilZPass),e.stencilWrite!==void 0&&(this.stencilWrite=e.stencilWrite),e.wireframe!==void 0&&(this.wireframe=e.wireframe),e.wireframeLinewidth!==void 0&&(this.wireframeLinewidth=e.wireframeLinewidth),e.wireframeLinecap!==void 0&&(this.wireframeLinecap=e.wireframeLinecap),e.wireframeLinejoin!==void 0&&(this.wireframeLinejoin=e.wireframeLinejoin),e.rotation!==void 0&&(this.rotation=e.rotation),e.linewidth!==void 0&&(this.linewidth=e.linewidth),e.linecap!==void 0&&(this.linecap=e.linecap),e.linejoin!==void 0&&(this.linejoin=e.linejoin),e.dashSize!==void 0&&(this.dashSize=e.dashSize),e.gapSize!==void 0&&(this.gapSize=e.gapSize),e.scale!==void 0&&(this.scale=e.scale),e.polygonOffset!==void 0&&(this.polygonOffset=e.polygonOffset),e.polygonOffsetFactor!==void 0&&(this.polygonOffsetFactor=e.polygonOffsetFactor),e.polygonOffsetUnits!==void 0&&(this.polygonOffsetUnits=e.polygonOffsetUnits),e.dithering!==void 0&&(this.dithering=e.dithering),e.alphaToCoverage!==void 0&&(this.alphaToCoverage=e.alphaToCoverage),e.premultipliedAlpha!==void 0&&(this.premultipliedAlpha=e.premultipliedAlpha),e.forceSinglePass!==void 0&&(this.forceSinglePass=e.forceSinglePass),e.allowOverride!==void 0&&(this.allowOverride=e.allowOverride),e.visible!==void 0&&(this.visible=e.visible),e.toneMapped!==void 0&&(this.toneMapped=e.toneMapped),e.userData!==void 0&&(this.userData=e.userData),e.vertexColors!==void 0&&(typeof e.vertexColors=="number"?this.vertexColors=e.vertexColors>0:this.vertexColors=e.vertexColors),e.size!==void 0&&(this.size=e.size),e.sizeAttenuation!==void 0&&(this.sizeAttenuation=e.sizeAttenuation),e.map!==void 0&&(this.map=t[e.map]||null),e.matcap!==void 0&&(this.matcap=t[e.matcap]||null),e.alphaMap!==void 0&&(this.alphaMap=t[e.alphaMap]||null),e.bumpMap!==void 0&&(this.bumpMap=t[e.bumpMap]||null),e.bumpScale!==void 0&&(this.bumpScale=e.bumpScale),e.normalMap!==void 0&&(this.normalMap=t[e.normalMap]||null),e.normalMapType!==void 0&&(this.normalMapType=e.normalMapType),e.normalScale!==void 0){let n=e.normalScale;Array.isArray(n)===!1&&(n=[n,n]),this.normalScale=new Lt().fromArray(n)}return e.displacementMap!==void 0&&(this.displacementMap=t[e.displacementMap]||null),e.displacementScale!==void 0&&(this.displacementScale=e.displacementScale),e.displacementBias!==void 0&&(this.displacementBias=e.displacementBias),e.roughnessMap!==void 0&&(this.roughnessMap=t[e.roughnessMap]||null),e.metalnessMap!==void 0&&(this.metalnessMap=t[e.metalnessMap]||null),e.emissiveMap!==void 0&&(this.emissiveMap=t[e.emissiveMap]||null),e.emissiveIntensity!==void 0&&(this.emissiveIntensity=e.emissiveIntensity),e.specularMap!==void 0&&(this.specularMap=t[e.specularMap]||null),e.specularIntensityMap!==void 0&&(this.specularIntensityMap=t[e.specularIntensityMap]||null),e.specularColorMap!==void 0&&(this.specularColorMap=t[e.specularColorMap]||null),e.envMap!==void 0&&(this.envMap=t[e.envMap]||null),e.envMapRotation!==void 0&&this.envMapRotation.fromArray(e.envMapRotation),e.envMapIntensity!==void 0&&(this.envMapIntensity=e.envMapIntensity),e.reflectivity!==void 0&&(this.reflectivity=e.reflectivity),e.refractionRatio!==void 0&&(this.refractionRatio=e.refractionRatio),e.lightMap!==void 0&&(this.lightMap=t[e.lightMap]||null),e.lightMapIntensity!==void 0&&(this.lightMapIntensity=e.lightMapIntensity),e.aoMap!==void 0&&(this.aoMap=t[e.aoMap]||null),e.aoMapIntensity!==void 0&&(this.aoMapIntensity=e.aoMapIntensity),e.gradientMap!==void 0&&(this.gradientMap=t[e.gradientMap]||null),e.clearcoatMap!==void 0&&(this.clearcoatMap=t[e.clearcoatMap]||null),e.clearcoatRoughnessMap!==void 0&&(this.clearcoatRoughnessMap=t[e.clearcoatRoughnessMap]||null),e.clearcoatNormalMap!==void 0&&(this.clearcoatNormalMap=t[e.clearcoatNormalMap]||null),e.clearcoatNormalScale!==void 0&&(this.clearcoatNormalScale=new Lt().fromArray(e.clearcoatNormalScale)),e.diffuseRoughnessMap!==void 0&&(this.diffuseRoughnessMap=t[e.diffuseRoughnessMap]||null),e.iridescenceMap!==void 0&&(this.iridescenceMap=t[e.iridescenceMap]||null),e.iridescenceThicknessMap!==void 0&&(this.iridescenceThicknessMap=t[e.iridescenceThicknessMap]||null),e.transmissionMap!==void 0&&(this.transmissionMap=t[e.transmissionMap]||null),e.thicknessMap!==void 0&&(this.thicknessMap=t[e.thicknessMap]||null),e.anisotropyMap!==void 0&&(this.anisotropyMap=t[e.anisotropyMap]||null),e.sheenColorMap!==void 0&&(this.sheenColorMap=t[e.sheenColorMap]||null),e.sheenRoughnessMap!==void 0&&(this.sheenRoughnessMap=t[e.sheenRoughnessMap]||null),this}clone(){return new this.constructor().copy(this)}copy(e){this.name=e.name,this.blending=e.blending,this.side=e.side,this.vertexColors=e.vertexColors,this.opacity=e.opacity,this.transparent=e.transparent,this.blendSrc=e.blendSrc,this.blendDst=e.blendDst,this.blendEquation=e.blendEquation,this.blendSrcAlpha=e.blendSrcAlpha,this.blendDstAlpha=e.blendDstAlpha,this.blendEquationAlpha=e.blendEquationAlpha,this.blendColor.copy(e.blendColor),this.blendAlpha=e.blendAlpha,this.depthFunc=e.depthFunc,this.depthTest=e.depthTest,this.depthWrite=e.depthWrite,this.stencilWriteMask=e.stencilWriteMask,this.stencilFunc=e.stencilFunc,this.stencilRef=e.stencilRef,this.stencilFuncMask=e.stencilFuncMask,this.stencilFail=e.stencilFail,this.stencilZFail=e.stencilZFail,this.stencilZPass=e.stencilZPass,this.stencilWrite=e.stencilWrite;let t=e.clippingPlanes,n=null;if(t!==null){let r=t.length;n=new Array(r);for(let a=0;a!==r;++a)n[a]=t[a].clone()}return this.clippingPlanes=n,this.clipIntersection=e.clipIntersection,this.clipShadows=e.clipShadows,this.shadowSide=e.shadowSide,this.colorWrite=e.colorWrite,this.precision=e.precision,this.polygonOffset=e.polygonOffset,this.polygonOffsetFactor=e.polygonOffsetFactor,this.polygonOffsetUnits=e.polygonOffsetUnits,this.dithering=e.dithering,this.alphaTest=e.alphaTest,this.alphaHash=e.alphaHash,this.alphaToCoverage=e.alphaToCoverage,this.premultipliedAlpha=e.premultipliedAlpha,this.forceSinglePass=e.forceSinglePass,this.allowOverride=e.allowOverride,this.visible=e.visible,this.toneMapped=e.toneMapped,this.userData=JSON.parse(JSON.stringify(e.userData)),this}dispose(){this.dispatchEvent({type:"dispose"})}set needsUpdate(e){e===!0&&this.version++}};var Ji=new re,qu=new re,Go=new re,Vo=new re,br=class{constructor(e=new re,t=new re(0,0,-1)){this.origin=e,this.direction=t}set(e,t){return this.origin.copy(e),this.direction.copy(t),this}copy(e){return this.origin.copy(e.origin),this.direction.copy(e.direction),this}at(e,t){return t.copy(this.origin).addScaledVector(this.direction,e)}lookAt(e){return this.direction.copy(e).sub(this.origin).normalize(),this}recast(e){return this.origin.copy(this.at(e,Ji)),this}closestPointToPoint(e,t){t.subVectors(e,this.origin);let n=t.dot(this.direction);return n<0?t.copy(this.origin):t.copy(this.origin).addScaledVector(this.direction,n)}distanceToPoint(e){return Math.sqrt(this.distanceSqToPoint(e))}distanceSqToPoint(e){let t=Ji.subVectors(e,this.origin).dot(this.direction);return t<0?this.origin.distanceToSquared(e):(Ji.copy(this.origin).addScaledVector(this.direction,t),Ji.distanceToSquared(e))}distanceSqToSegment(e,t,n,r){qu.copy(e).add(t).multiplyScalar(.5),Go.copy(t).sub(e).normalize(),Vo.copy(this.origin).sub(qu);let a=e.distanceTo(t)*.5,l=-this.direction.dot(Go),c=Vo.dot(this.direction),h=-Vo.dot(Go),d=Vo.lengthSq(),p=Math.abs(1-l*l),m,g,v,w;if(p>0)if(m=l*h-c,g=l*c-h,w=a*p,m>=0)if(g>=-w)if(g<=w){let C=1/p;m*=C,g*=C,v=m*(m+l*g+2*c)+g*(l*m+g+2*h)+d}else g=a,m=Math.max(0,-(l*g+c)),v=-m*m+g*(g+2*h)+d;else g=-a,m=Math.max(0,-(l*g+c)),v=-m*m+g*(g+2*h)+d;else g<=-w?(m=Math.max(0,-(-l*a+c)),g=m>0?-a:Math.min(Math.max(-a,-h),a),v=-m*m+g*(g+2*h)+d):g<=w?(m=0,g=Math.min(Math.max(-a,-h),a),v=g*(g+2*h)+d):(m=Math.max(0,-(l*a+c)),g=m>0?a:Math.min(Math.max(-a,-h),a),v=-m*m+g*(g+2*h)+d);else g=l>0?-a:a,m=Math.max(0,-(l*g+c)),v=-m*m+g*(g+2*h)+d;return n&&n.copy(this.origin).addScaledVector(this.direction,m),r&&r.copy(qu).addScaledVector(Go,g),v}intersectSphere(e,t){if(e.radius<0)return null;Ji.subVectors(e.center,this.origin);let n=Ji.dot(this.direction),r=Ji.dot(Ji)-n*n,a=e.radius*e.radius;if(r>a)return null;let l=Math.sqrt(a-r),c=n-l,h=n+l;return h<0?null:c<0?this.at(h,t):this.at(c,t)}intersectsSphere(e){return e.radius<0?!1:this.distanceSqToPoint(e.center)<=e.radius*e.radius}distanceToPlane(e){let t=e.normal.dot(this.direction);if(t===0)return e.distanceToPoint(this.origin)===0?0:null;let n=-(this.origin.dot(e.normal)+e.constant)/t;return n>=0?n:null}intersectPlane(e,t){let n=this.distanceToPlane(e);return n===null?null:this.at(n,t)}intersectsPlane(e){let t=e.distanceToPoint(this.origin);return t===0||e.normal.dot(this.direction)*t<0}intersectBox(e,t){let n,r,a,l,c,h,d=1/this.direction.x,p=1/this.direction.y,m=1/this.direction.z,g=this.origin;return d>=0?(n=(e.min.x-g.x)*d,r=(e.max.x-g.x)*d):(n=(e.max.x-g.x)*d,r=(e.min.x-g.x)*d),p>=0?(a=(e.min.y-g.y)*p,l=(e.max.y-g.y)*p):(a=(e.max.y-g.y)*p,l=(e.min.y-g.y)*p),n>l||a>r||((a>n||isNaN(n))&&(n=a),(l<r||isNaN(r))&&(r=l),m>=0?(c=(e.min.z-g.z)*m,h=(e.max.z-g.z)*m):(c=(e.max.z-g.z)*m,h=(e.min.z-g.z)*m),n>h||c>r)||((c>n||n!==n)&&(n=c),(h<r||r!==r)&&(r=h),r<0)?null:this.at(n>=0?n:r,t)}intersectsBox(e){return this.intersectBox(e,Ji)!==null}intersectTriangle(e,t,n,r,a){let l=this.origin,c=this.direction,h=c.x,d=c.y,p=c.z,m=e.x-l.x,g=e.y-l.y,v=e.z-l.z,w=t.x-l.x,C=t.y-l.y,b=t.z-l.z,y=n.x-l.x,D=n.y-l.y,U=n.z-l.z,F=Math.abs(h),k=Math.abs(d),L=Math.abs(p),E,N,J,V,ee,q,ne,X,te,H,le,be;if(F>=k&&F>=L?(J=h,q=m,te=w,be=y,h>=0?(E=d,N=p,V=g,ee=v,ne=C,X=b,H=D,le=U):(E=p,N=d,V=v,ee=g,ne=b,X=C,H=U,le=D)):k>=L?(J=d,q=g,te=C,be=D,d>=0?(E=p,N=h,V=v,ee=m,ne=b,X=w,H=U,le=y):(E=h,N=p,V=m,ee=v,ne=w,X=b,H=y,le=U)):(J=p,q=v,te=b,be=U,p>=0?(E=h,N=d,V=m,ee=g,ne=w,X=C,H=y,le=D):(E=d,N=h,V=g,ee=m,ne=C,X=w,H=D,le=y)),J===0)return null;let ue=E/J,$=N/J,ye=1/J,qe=V-ue*q,at=ee-$*q,fe=ne-ue*te,He=X-$*te,Ie=H-ue*be,Qe=le-$*be,Ue=Ie*He-Qe*fe,Ke=qe*Qe-at*Ie,ct=fe*at-He*qe;if(r){if(Ue<0||Ke<0||ct<0)return null}else if((Ue<0||Ke<0||ct<0)&&(Ue>0||Ke>0||ct>0))return null;let Oe=Ue+Ke+ct;if(Oe===0)return null;let Dt=ye*(Ue*q+Ke*te+ct*be);return(Oe>0?Dt<0:Dt>0)?null:this.at(Dt/Oe,a)}applyMatrix4(e){return this.origin.applyMatrix4(e),this.direction.transformDirection(e),this}equals(e){return e.origin.equals(this.origin)&&e.direction.equals(this.direction)}clone(){return new this.constructor().copy(this)}},Ia=class extends nr{constructor(e){super(),this.isMeshBasicMaterial=!0,this.type="MeshBasicMaterial",this.color=new wt(16777215),this.map=null,this.lightMap=null,this.lightMapIntensity=1,this.aoMap=null,this.aoMapIntensity=1,this.specularMap=null,this.alphaMap=null,this.envMap=null,this.envMapRotation=new er,this.combine=dh,this.reflectivity=1,this.refractionRatio=.98,this.wireframe=!1,this.wireframeLinewidth=1,this.wireframeLinecap="round",this.wireframeLinejoin="round",this.fog=!0,this.setValues(e)}copy(e){return super.copy(e),this.color.copy(e.color),this.map=e.map,this.lightMap=e.lightMap,this.lightMapIntensity=e.lightMapIntensity,this.aoMap=e.aoMap,this.aoMapIntensity=e.aoMapIntensity,this.specularMap=e.specularMap,this.alphaMap=e.alphaMap,this.envMap=e.envMap,this.envMapRotation.copy(e.envMapRotation),this.combine=e.combine,this.reflectivity=e.reflectivity,this.refractionRatio=e.refractionRatio,this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this.wireframeLinecap=e.wireframeLinecap,this.wireframeLinejoin=e.wireframeLinejoin,this.fog=e.fog,this}},Cf=new Yt,zr=new br,Ho=new tr,Pf=new re,Wo=new re,$o=new re,Xo=new re,ju=new re,qo=new re,If=new re,jo=new re,Un=class extends An{constructor(e=new $n,t=new Ia){super(),this.isMesh=!0,this.type="Mesh",this.geometry=e,this.material=t,this.morphTargetDictionary=void 0,this.morphTargetInfluences=void 0,this.count=1,this.updateMorphTargets()}copy(e,t){return super.copy(e,t),e.morphTargetInfluences!==void 0?this.morphTargetInfluences=e.morphTargetInfluences.slice():this.morphTargetInfluences=void 0,e.morphTargetDictionary!==void 0?this.morphTargetDictionary=Object.assign({},e.morphTargetDictionary):this.morphTargetDictionary=void 0,this.material=Array.isArray(e.material)?e.material.slice():e.material,this.geometry=e.geometry,this}updateMorphTargets(){let t=this.geometry.morphAttributes,n=Object.keys(t);if(n.length>0){let r=t[n[0]];if(r!==void 0){this.morphTargetInfluences=[],this.morphTargetDictionary={};for(let a=0,l=r.length;a<l;a++){let c=r[a].name||String(a);this.morphTargetInfluences.push(0),this.morphTargetDictionary[c]=a}}}}getVertexPosition(e,t){let n=this.geometry,r=n.attributes.position,a=n.morphAttributes.position,l=n.morphTargetsRelative;t.fromBufferAttribute(r,e);let c=this.morphTargetInfluences;if(a&&c){qo.set(0,0,0);for(let h=0,d=a.length;h<d;h++){let p=c[h],m=a[h];p!==0&&(ju.fromBufferAttribute(m,e),l?qo.addScaledVector(ju,p):qo.addScaledVector(ju.sub(t),p))}t.add(qo)}return t}intersectsFrustum(e){return e.intersectsObject(this)}raycast(e,t){let n=this.geometry,r=this.material,a=this.matrixWorld;r!==void 0&&(n.boundingSphere===null&&n.computeBoundingSphere(),Ho.copy(n.boundingSphere),Ho.applyMatrix4(a),zr.copy(e.ray).recast(e.near),!(Ho.containsPoint(zr.origin)===!1&&(zr.intersectSphere(Ho,Pf)===null||zr.origin.distanceToSquared(Pf)>(e.far-e.near)**2))&&(Cf.copy(a).invert(),zr.copy(e.ray).applyMatrix4(Cf),!(n.boundingBox!==null&&zr.intersectsBox(n.boundingBox)===!1)&&this._computeIntersections(e,t,zr)))}_computeIntersections(e,t,n){let r,a=this.geometry,l=this.material,c=a.index,h=a.attributes.position,d=a.attributes.uv,p=a.attributes.uv1,m=a.attributes.normal,g=a.groups,v=a.drawRange;if(c!==null)if(Array.isArray(l))for(let w=0,C=g.length;w<C;w++){let b=g[w],y=l[b.materialIndex],D=Math.max(b.start,v.start),U=Math.min(c.count,Math.min(b.start+b.count,v.start+v.count));for(let F=D,k=U;F<k;F+=3){let L=c.getX(F),E=c.getX(F+1),N=c.getX(F+2);r=Yo(this,y,e,n,d,p,m,L,E,N),r&&(r.faceIndex=Math.floor(F/3),r.face.materialIndex=b.materialIndex,t.push(r))}}else{let w=Math.max(0,v.start),C=Math.min(c.count,v.start+v.count);for(let b=w,y=C;b<y;b+=3){let D=c.getX(b),U=c.getX(b+1),F=c.getX(b+2);r=Yo(this,l,e,n,d,p,m,D,U,F),r&&(r.faceIndex=Math.floor(b/3),t.push(r))}}else if(h!==void 0)if(Array.isArray(l))for(let w=0,C=g.length;w<C;w++){let b=g[w],y=l[b.materialIndex],D=Math.max(b.start,v.start),U=Math.min(h.count,Math.min(b.start+b.count,v.start+v.count));for(let F=D,k=U;F<k;F+=3){let L=F,E=F+1,N=F+2;r=Yo(this,y,e,n,d,p,m,L,E,N),r&&(r.faceIndex=Math.floor(F/3),r.face.materialIndex=b.materialIndex,t.push(r))}}else{let w=Math.max(0,v.start),C=Math.min(h.count,v.start+v.count);for(let b=w,y=C;b<y;b+=3){let D=b,U=b+1,F=b+2;r=Yo(this,l,e,n,d,p,m,D,U,F),r&&(r.faceIndex=Math.floor(b/3),t.push(r))}}}};function Kx(i,e,t,n,r,a,l,c){let h;if(e.side===Xn?h=n.intersectTriangle(l,a,r,!0,c):h=n.intersectTriangle(r,a,l,e.side===Rr,c),h===null)return null;jo.copy(c),jo.applyMatrix4(i.matrixWorld);let d=t.ray.origin.distanceTo(jo);return d<t.near||d>t.far?null:{distance:d,point:jo.clone(),object:i}}function Yo(i,e,t,n,r,a,l,c,h,d){i.getVertexPosition(c,Wo),i.getVertexPosition(h,$o),i.getVertexPosition(d,Xo);let p=Kx(i,e,t,n,Wo,$o,Xo,If);if(p){let m=new re;xr.getBarycoord(If,Wo,$o,Xo,m),r&&(p.uv=xr.getInterpolatedAttribute(r,c,h,d,m,new Lt)),a&&(p.uv1=xr.getInterpolatedAttribute(a,c,h,d,m,new Lt)),l&&(p.normal=xr.getInterpolatedAttribute(l,c,h,d,m,new re),p.normal.dot(n.direction)>0&&p.normal.multiplyScalar(-1));let g={a:c,b:h,c:d,normal:new re,materialIndex:0};xr.getNormal(Wo,$o,Xo,g.normal),p.face=g,p.barycoord=m}return p}var La=class extends Wn{constructor(e=null,t=1,n=1,r,a,l,c,h,d=Tn,p=Tn,m,g){super(null,l,c,h,d,p,r,a,m,g),this.isDataTexture=!0,this.image={data:e,width:t,height:n},this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1}};var Da=class extends Yn{constructor(e,t,n,r=1){super(e,t,n),this.isInstancedBufferAttribute=!0,this.meshPerAttribute=r}copy(e){return super.copy(e),this.meshPerAttribute=e.meshPerAttribute,this}toJSON(){let e=super.toJSON();return e.meshPerAttribute=this.meshPerAttribute,e.isInstancedBufferAttribute=!0,e}},As=new Yt,Lf=new Yt,Jo=[],Df=new Ni,Qx=new Yt,ga=new Un,_a=new tr,Fa=class extends Un{constructor(e,t,n){super(e,t),this.isInstancedMesh=!0,this.instanceMatrix=new Da(new Float32Array(n*16),16),this.instanceColor=null,this.morphTexture=null,this.count=n,this.boundingBox=null,this.boundingSphere=null;for(let r=0;r<n;r++)this.setMatrixAt(r,Qx)}computeBoundingBox(){let e=this.geometry,t=this.count;this.boundingBox===null&&(this.boundingBox=new Ni),e.boundingBox===null&&e.computeBoundingBox(),this.boundingBox.makeEmpty();for(let n=0;n<t;n++)this.getMatrixAt(n,As),Df.copy(e.boundingBox).applyMatrix4(As),this.boundingBox.union(Df)}computeBoundingSphere(){let e=this.geometry,t=this.count;this.boundingSphere===null&&(this.boundingSphere=new tr),e.boundingSphere===null&&e.computeBoundingSphere(),this.boundingSphere.makeEmpty();for(let n=0;n<t;n++)this.getMatrixAt(n,As),_a.copy(e.boundingSphere).applyMatrix4(As),this.boundingSphere.union(_a)}copy(e,t){return super.copy(e,t),this.instanceMatrix.copy(e.instanceMatrix),this.morphTexture=e.morphTexture!==null?e.morphTexture.clone():null,this.instanceColor=e.instanceColor!==null?e.instanceColor.clone():null,this.count=e.count,this.boundingBox=e.boundingBox!==null?e.boundingBox.clone():null,this.boundingSphere=e.boundingSphere!==null?e.boundingSphere.clone():null,this}getColorAt(e,t){return this.instanceColor===null?t.setRGB(1,1,1):t.fromArray(this.instanceColor.array,e*3)}getMatrixAt(e,t){return t.fromArray(this.instanceMatrix.array,e*16)}getMorphAt(e,t){let n=t.morphTargetInfluences,r=this.morphTexture.source.data.data,a=n.length+1,l=e*a+1;for(let c=0;c<n.length;c++)n[c]=r[l+c]}raycast(e,t){let n=this.matrixWorld,r=this.count;if(ga.geometry=this.geometry,ga.material=this.material,ga.material!==void 0&&(this.boundingSphere===null&&this.computeBoundingSphere(),_a.copy(this.boundingSphere),_a.applyMatrix4(n),e.ray.intersectsSphere(_a)!==!1))for(let a=0;a<r;a++){this.getMatrixAt(a,As),Lf.multiplyMatrices(n,As),ga.matrixWorld=Lf,ga.raycast(e,Jo);for(let l=0,c=Jo.length;l<c;l++){let h=Jo[l];h.instanceId=a,h.object=this,t.push(h)}Jo.length=0}}setColorAt(e,t){return this.instanceColor===null&&(this.instanceColor=new Da(new Float32Array(this.instanceMatrix.count*3).fill(1),3)),t.toArray(this.instanceColor.array,e*3),this}setMatrixAt(e,t){return t.toArray(this.instanceMatrix.array,e*16),this}setMorphAt(e,t){let n=t.morphTargetInfluences,r=n.length+1;this.morphTexture===null&&(this.morphTexture=new La(new Float32Array(r*this.count),r,this.count,Wl,mi));let a=this.morphTexture.source.data.data,l=0;for(let d=0;d<n.length;d++)l+=n[d];let c=this.geometry.morphTargetsRelative?1:1-l,h=r*e;return a[h]=c,a.set(n,h+1),this}updateMorphTargets(){}dispose(){super.dispose(),this.instanceMatrix.dispose(),this.instanceColor!==null&&this.instanceColor.dispose(),this.morphTexture!==null&&(this.morphTexture.dispose(),this.morphTexture=null)}},Gr=new tr,eb=new Lt(.5,.5),Zo=new re,Sr=class{constructor(e=new ni,t=new ni,n=new ni,r=new ni,a=new ni,l=new ni){this.planes=[e,t,n,r,a,l]}set(e,t,n,r,a,l){let c=this.planes;return c[0].copy(e),c[1].copy(t),c[2].copy(n),c[3].copy(r),c[4].copy(a),c[5].copy(l),this}copy(e){let t=this.planes;for(let n=0;n<6;n++)t[n].copy(e.planes[n]);return this}setFromProjectionMatrix(e,t=fi,n=!1){let r=this.planes,a=e.elements,l=a[0],c=a[1],h=a[2],d=a[3],p=a[4],m=a[5],g=a[6],v=a[7],w=a[8],C=a[9],b=a[10],y=a[11],D=a[12],U=a[13],F=a[14],k=a[15];if(r[0].setComponents(d-l,v-p,y-w,k-D).normalize(),r[1].setComponents(d+l,v+p,y+w,k+D).normalize(),r[2].setComponents(d+c,v+m,y+C,k+U).normalize(),r[3].setComponents(d-c,v-m,y-C,k-U).normalize(),n)r[4].setComponents(h,g,b,F).normalize(),r[5].setComponents(d-h,v-g,y-b,k-F).normalize();else if(r[4].setComponents(d-h,v-g,y-b,k-F).normalize(),t===fi)r[5].setComponents(d+h,v+g,y+b,k+F).normalize();else if(t===Fs)r[5].setComponents(h,g,b,F).normalize();else throw new Error("THREE.Frustum.setFromProjectionMatrix(): Invalid coordinate system: "+t);return this}intersectsObject(e){if(e.boundingSphere!==void 0)e.boundingSphere===null&&e.computeBoundingSphere(),Gr.copy(e.boundingSphere).applyMatrix4(e.matrixWorld);else{let t=e.geometry;t.boundingSphere===null&&t.computeBoundingSphere(),Gr.copy(t.boundingSphere).applyMatrix4(e.matrixWorld)}return this.intersectsSphere(Gr)}intersectsSprite(e){Gr.center.set(0,0,0);let t=eb.distanceTo(e.center);return Gr.radius=.7071067811865476+t,Gr.applyMatrix4(e.matrixWorld),this.intersectsSphere(Gr)}intersectsSphere(e){let t=this.planes,n=e.center,r=-e.radius;for(let a=0;a<6;a++)if(t[a].distanceToPoint(n)<r)return!1;return!0}intersectsBox(e){let t=this.planes;for(let n=0;n<6;n++){let r=t[n];if(Zo.x=r.normal.x>0?e.max.x:e.min.x,Zo.y=r.normal.y>0?e.max.y:e.min.y,Zo.z=r.normal.z>0?e.max.z:e.min.z,r.distanceToPoint(Zo)<0)return!1}return!0}containsPoint(e){let t=this.planes;for(let n=0;n<6;n++)if(t[n].distanceToPoint(e)<0)return!1;return!0}clone(){return new this.constructor().copy(this)}},Ff=new Yt,vl=class i{constructor(){this.coordinateSystem=fi,this._frustums=[],this._count=0}setFromArrayCamera(e){let t=e.cameras,n=this._frustums;for(let r=0;r<t.length;r++){let a=t[r];Ff.multiplyMatrices(a.projectionMatrix,a.matrixWorldInverse),n[r]===void 0&&(n[r]=new Sr),n[r].setFromProjectionMatrix(Ff,a.coordinateSystem,a.reversedDepth)}return this._count=t.length,this}getFrustum(e){return this._frustums[e]}intersectsObject(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsObject(e))return!0;return!1}intersectsSprite(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsSprite(e))return!0;return!1}intersectsSphere(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsSphere(e))return!0;return!1}intersectsBox(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsBox(e))return!0;return!1}containsPoint(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].containsPoint(e))return!0;return!1}copy(e){this.coordinateSystem=e.coordinateSystem;let t=this._frustums,n=e._frustums;for(let r=0;r<e._count;r++)t[r]===void 0&&(t[r]=new Sr),t[r].copy(n[r]);return this._count=e._count,this}clone(){return new i().copy(this)}};var Na=class extends nr{constructor(e){super(),this.isLineBasicMaterial=!0,this.type="LineBasicMaterial",this.color=new wt(16777215),this.map=null,this.linewidth=1,this.linecap="round",this.linejoin="round",this.fog=!0,this.setValues(e)}copy(e){return super.copy(e),this.color.copy(e.color),this.map=e.map,this.linewidth=e.linewidth,this.linecap=e.linecap,this.linejoin=e.linejoin,this.fog=e.fog,this}},yl=new re,xl=new re,Nf=new Yt,va=new br,Ko=new tr,Yu=new re,Uf=new re,bl=class extends An{constructor(e=new $n,t=new Na){super(),this.isLine=!0,this.type="Line",this.geometry=e,this.material=t,this.morphTargetDictionary=void 0,this.morphTargetInfluences=void 0,this.updateMorphTargets()}copy(e,t){return super.copy(e,t),e.morphTargetInfluences!==void 0?this.morphTargetInfluences=e.morphTargetInfluences.slice():this.morphTargetInfluences=void 0,e.morphTargetDictionary!==void 0?this.morphTargetDictionary=Object.assign({},e.morphTargetDictionary):this.morphTargetDictionary=void 0,this.material=Array.isArray(e.material)?e.material.slice():e.material,this.geometry=e.geometry,this}computeLineDistances(){let e=this.geometry;if(e.index===null){let t=e.attributes.position,n=[0];for(let r=1,a=t.count;r<a;r++)yl.fromBufferAttribute(t,r-1),xl.fromBufferAttribute(t,r),n[r]=n[r-1],n[r]+=yl.distanceTo(xl);e.setAttribute("lineDistance",new mn(n,1))}else ht("Line.computeLineDistances(): Computation only possible with non-indexed BufferGeometry.");return this}intersectsFrustum(e){return e.intersectsObject(this)}raycast(e,t){let n=this.geometry,r=this.matrixWorld,a=e.params.Line.threshold,l=n.drawRange;if(n.boundingSphere===null&&n.computeBoundingSphere(),Ko.copy(n.boundingSphere),Ko.applyMatrix4(r),Ko.radius+=a,e.ray.intersectsSphere(Ko)===!1)return;Nf.copy(r).invert(),va.copy(e.ray).applyMatrix4(Nf);let c=a/((this.scale.x+this.scale.y+this.scale.z)/3),h=c*c,d=this.isLineSegments?2:1,p=n.index,g=n.attributes.position;if(p!==null){let v=Math.max(0,l.start),w=Math.min(p.count,l.start+l.count);for(let C=v,b=w-1;C<b;C+=d){let y=p.getX(C),D=p.getX(C+1),U=Qo(this,e,va,h,y,D,C);U&&t.push(U)}if(this.isLineLoop){let C=p.getX(w-1),b=p.getX(v),y=Qo(this,e,va,h,C,b,w-1);y&&t.push(y)}}else{let v=Math.max(0,l.start),w=Math.min(g.count,l.start+l.count);for(let C=v,b=w-1;C<b;C+=d){let y=Qo(this,e,va,h,C,C+1,C);y&&t.push(y)}if(this.isLineLoop){let C=Qo(this,e,va,h,w-1,v,w-1);C&&t.push(C)}}}updateMorphTargets(){let t=this.geometry.morphAttributes,n=Object.keys(t);if(n.length>0){let r=t[n[0]];if(r!==void 0){this.morphTargetInfluences=[],this.morphTargetDictionary={};for(let a=0,l=r.length;a<l;a++){let c=r[a].name||String(a);this.morphTargetInfluences.push(0),this.morphTargetDictionary[c]=a}}}}};function Qo(i,e,t,n,r,a,l){let c=i.geometry.attributes.position;if(yl.fromBufferAttribute(c,r),xl.fromBufferAttribute(c,a),t.distanceSqToSegment(yl,xl,Yu,Uf)>n)return;Yu.applyMatrix4(i.matrixWorld);let d=e.ray.origin.distanceTo(Yu);if(!(d<e.near||d>e.far))return{distance:d,point:Uf.clone().applyMatrix4(i.matrixWorld),index:l,face:null,faceIndex:null,barycoord:null,object:i}}var Ua=class extends Wn{constructor(e=[],t=qr,n,r,a,l,c,h,d,p){super(e,t,n,r,a,l,c,h,d,p),this.isCubeTexture=!0,this.flipY=!1}get images(){return this.image}set images(e){this.image=e}},Oa=class extends Wn{constructor(e,t,n,r,a,l,c,h,d){super(e,t,n,r,a,l,c,h,d),this.isCanvasTexture=!0,this.needsUpdate=!0}};var ir=class extends Wn{constructor(e,t,n=Ei,r,a,l,c=Tn,h=Tn,d,p=Qi,m=1){if(p!==Qi&&p!==sr)throw new Error("THREE.DepthTexture: format must be either THREE.DepthFormat or THREE.DepthStencilFormat");let g={width:e,height:t,depth:m};super(g,r,a,l,c,h,p,n,d),this.isDepthTexture=!0,this.flipY=!1,this.generateMipmaps=!1,this.compareFunction=null}copy(e){return super.copy(e),this.source=new Os(Object.assign({},e.image)),this.compareFunction=e.compareFunction,this}toJSON(e){let t=super.toJSON(e);return t.compareFunction=this.compareFunction,t}},Ba=class extends ir{constructor(e,t=Ei,n=qr,r,a,l=Tn,c=Tn,h,d=Qi){let p={width:e,height:e,depth:1},m=[p,p,p,p,p,p];super(e,e,t,n,r,a,l,c,h,d),this.image=m,this.isCubeDepthTexture=!0,this.isCubeTexture=!0}get images(){return this.image}set images(e){this.image=e}},ka=class extends Wn{constructor(e=null){super(),this.sourceTexture=e,this.isExternalTexture=!0}copy(e){return super.copy(e),this.sourceTexture=e.sourceTexture,this}},wr=class i extends $n{constructor(e=1,t=1,n=1,r=1,a=1,l=1){super(),this.type="BoxGeometry",this.parameters={width:e,height:t,depth:n,widthSegments:r,heightSegments:a,depthSegments:l};let c=this;r=Math.floor(r),a=Math.floor(a),l=Math.floor(l);let h=[],d=[],p=[],m=[],g=0,v=0;w("z","y","x",-1,-1,n,t,e,l,a,0),w("z","y","x",1,-1,n,t,-e,l,a,1),w("x","z","y",1,1,e,n,t,r,l,2),w("x","z","y",1,-1,e,n,-t,r,l,3),w("x","y","z",1,-1,e,t,n,r,a,4),w("x","y","z",-1,-1,e,t,-n,r,a,5),this.setIndex(h),this.setAttribute("position",new mn(d,3)),this.setAttribute("normal",new mn(p,3)),this.setAttribute("uv",new mn(m,2));function w(C,b,y,D,U,F,k,L,E,N,J){let V=F/E,ee=k/N,q=F/2,ne=k/2,X=L/2,te=E+1,H=N+1,le=0,be=0,ue=new re;for(let $=0;$<H;$++){let ye=$*ee-ne;for(let qe=0;qe<te;qe++){let at=qe*V-q;ue[C]=at*D,ue[b]=ye*U,ue[y]=X,d.push(ue.x,ue.y,ue.z),ue[C]=0,ue[b]=0,ue[y]=L>0?1:-1,p.push(ue.x,ue.y,ue.z),m.push(qe/E),m.push(1-$/N),le+=1}}for(let $=0;$<N;$++)for(let ye=0;ye<E;ye++){let qe=g+ye+te*$,at=g+ye+te*($+1),fe=g+(ye+1)+te*($+1),He=g+(ye+1)+te*$;h.push(qe,at,He),h.push(at,fe,He),be+=6}c.addGroup(v,be,J),v+=be,g+=le}}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(e){return new i(e.width,e.height,e.depth,e.widthSegments,e.heightSegments,e.depthSegments)}},za=class i extends $n{constructor(e=1,t=1,n=4,r=8,a=1){super(),this.type="CapsuleGeometry",this.parameters={radius:e,height:t,capSegments:n,radialSegments:r,heightSegments:a},t=Math.max(0,t),n=Math.max(1,Math.floor(n)),r=Math.max(3,Math.floor(r)),a=Math.max(1,Math.floor(a));let l=[],c=[],h=[],d=[],p=t/2,m=Math.PI/2*e,g=t,v=2*m+g,w=n*2+a,C=r+1,b=new re,y=new re;for(let D=0;D<=w;D++){let U=0,F=0,k=0,L=0;if(D<=n){let J=D/n,V=J*Math.PI/2;F=-p-e*Math.cos(V),k=e*Math.sin(V),L=-e*Math.cos(V),U=J*m}else if(D<=n+a){let J=(D-n)/a;F=-p+J*t,k=e,L=0,U=m+J*g}else{let J=(D-n-a)/n,V=J*Math.PI/2;F=p+e*Math.sin(V),k=e*Math.cos(V),L=e*Math.sin(V),U=m+g+J*m}let E=Math.max(0,Math.min(1,U/v)),N=0;D===0?N=.5/r:D===w&&(N=-.5/r);for(let J=0;J<=r;J++){let V=J/r,ee=V*Math.PI*2,q=Math.sin(ee),ne=Math.cos(ee);y.x=-k*ne,y.y=F,y.z=k*q,c.push(y.x,y.y,y.z),b.set(-k*ne,L,k*q),b.normalize(),h.push(b.x,b.y,b.z),d.push(V+N,E)}if(D>0){let J=(D-1)*C;for(let V=0;V<r;V++){let ee=J+V,q=J+V+1,ne=D*C+V,X=D*C+V+1;l.push(ee,q,ne),l.push(q,X,ne)}}}this.setIndex(l),this.setAttribute("position",new mn(c,3)),this.setAttribute("normal",new mn(h,3)),this.setAttribute("uv",new mn(d,2))}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(e){return new i(e.radius,e.height,e.capSegments,e.radialSegments,e.heightSegments)}};var Vr=class i extends $n{constructor(e=1,t=1,n=1,r=32,a=1,l=!1,c=0,h=Math.PI*2){super(),this.type="CylinderGeometry",this.parameters={radiusTop:e,radiusBottom:t,height:n,radialSegments:r,heightSegments:a,openEnded:l,thetaStart:c,thetaLength:h};let d=this;r=Math.floor(r),a=Math.floor(a);let p=[],m=[],g=[],v=[],w=0,C=[],b=n/2,y=0;D(),l===!1&&(e>0&&U(!0),t>0&&U(!1)),this.setIndex(p),this.setAttribute("position",new mn(m,3)),this.setAttribute("normal",new mn(g,3)),this.setAttribute("uv",new mn(v,2));function D(){let F=new re,k=new re,L=0,E=(t-e)/n;for(let N=0;N<=a;N++){let J=[],V=N/a,ee=V*(t-e)+e;for(let q=0;q<=r;q++){let ne=q/r,X=ne*h+c,te=Math.sin(X),H=Math.cos(X);k.x=ee*te,k.y=-V*n+b,k.z=ee*H,m.push(k.x,k.y,k.z),F.set(te,E,H).normalize(),g.push(F.x,F.y,F.z),v.push(ne,1-V),J.push(w++)}C.push(J)}for(let N=0;N<r;N++)for(let J=0;J<a;J++){let V=C[J][N],ee=C[J+1][N],q=C[J+1][N+1],ne=C[J][N+1];(e>0||J!==0)&&(p.push(V,ee,ne),L+=3),(t>0||J!==a-1)&&(p.push(ee,q,ne),L+=3)}d.addGroup(y,L,0),y+=L}function U(F){let k=w,L=new Lt,E=new re,N=0,J=F===!0?e:t,V=F===!0?1:-1;for(let q=1;q<=r;q++)m.push(0,b*V,0),g.push(0,V,0),v.push(.5,.5),w++;let ee=w;for(let q=0;q<=r;q++){let X=q/r*h+c,te=Math.cos(X),H=Math.sin(X);E.x=J*H,E.y=b*V,E.z=J*te,m.push(E.x,E.y,E.z),g.push(0,V,0),L.x=te*.5+.5,L.y=H*.5*V+.5,v.push(L.x,L.y),w++}for(let q=0;q<r;q++){let ne=k+q,X=ee+q;F===!0?p.push(X,X+1,ne):p.push(X+1,X,ne),N+=3}d.addGroup(y,N,F===!0?1:2),y+=N}}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(e){return new i(e.radiusTop,e.radiusBottom,e.height,e.radialSegments,e.heightSegments,e.openEnded,e.thetaStart,e.thetaLength)}},Sl=class i extends Vr{constructor(e=1,t=1,n=32,r=1,a=!1,l=0,c=Math.PI*2){super(0,e,t,n,r,a,l,c),this.type="ConeGeometry",this.parameters={radius:e,height:t,radialSegments:n,heightSegments:r,openEnded:a,thetaStart:l,thetaLength:c}}static fromJSON(e){return new i(e.radius,e.height,e.radialSegments,e.heightSegments,e.openEnded,e.thetaStart,e.thetaLength)}};var Mr=class i extends $n{constructor(e=1,t=1,n=1,r=1){super(),this.type="PlaneGeometry",this.parameters={width:e,height:t,widthSegments:n,heightSegments:r};let a=e/2,l=t/2,c=Math.floor(n),h=Math.floor(r),d=c+1,p=h+1,m=e/c,g=t/h,v=[],w=[],C=[],b=[];for(let y=0;y<p;y++){let D=y*g-l;for(let U=0;U<d;U++){let F=U*m-a;w.push(F,-D,0),C.push(0,0,1),b.push(U/c),b.push(1-y/h)}}for(let y=0;y<h;y++)for(let D=0;D<c;D++){let U=D+d*y,F=D+d*(y+1),k=D+1+d*(y+1),L=D+1+d*y;v.push(U,F,L),v.push(F,k,L)}this.setIndex(v),this.setAttribute("position",new mn(w,3)),this.setAttribute("normal",new mn(C,3)),this.setAttribute("uv",new mn(b,2))}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(e){return new i(e.width,e.height,e.widthSegments,e.heightSegments)}};var Hr=class i extends $n{constructor(e=1,t=32,n=16,r=0,a=Math.PI*2,l=0,c=Math.PI){super(),this.type="SphereGeometry",this.parameters={radius:e,widthSegments:t,heightSegments:n,phiStart:r,phiLength:a,thetaStart:l,thetaLength:c},t=Math.max(3,Math.floor(t)),n=Math.max(2,Math.floor(n));let h=Math.min(l+c,Math.PI),d=0,p=[],m=new re,g=new re,v=[],w=[],C=[],b=[];for(let y=0;y<=n;y++){let D=[],U=y/n,F=l+U*c,k=e*Math.cos(F),L=Math.sqrt(e*e-k*k),E=0;y===0&&l===0?E=.5/t:y===n&&h===Math.PI&&(E=-.5/t);for(let N=0;N<=t;N++){let J=N/t,V=r+J*a;m.x=-L*Math.cos(V),m.y=k,m.z=L*Math.sin(V),w.push(m.x,m.y,m.z),g.copy(m).normalize(),C.push(g.x,g.y,g.z),b.push(J+E,1-U),D.push(d++)}p.push(D)}for(let y=0;y<n;y++)for(let D=0;D<t;D++){let U=p[y][D+1],F=p[y][D],k=p[y+1][D],L=p[y+1][D+1];(y!==0||l>0)&&v.push(U,F,L),(y!==n-1||h<Math.PI)&&v.push(F,k,L)}this.setIndex(v),this.setAttribute("position",new mn(w,3)),this.setAttribute("normal",new mn(C,3)),this.setAttribute("uv",new mn(b,2))}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(e){return new i(e.radius,e.widthSegments,e.heightSegments,e.phiStart,e.phiLength,e.thetaStart,e.thetaLength)}};function Yr(i){let e={};for(let t in i){e[t]={};for(let n in i[t]){let r=i[t][n];if(Of(r))r.isRenderTargetTexture?(ht("UniformsUtils: Textures of render targets cannot be cloned via cloneUniforms() or mergeUniforms()."),e[t][n]=null):e[t][n]=r.clone();else if(Array.isArray(r))if(Of(r[0])){let a=[];for(let l=0,c=r.length;l<c;l++)a[l]=r[l].clone();e[t][n]=a}else e[t][n]=r.slice();else e[t][n]=r}}return e}function On(i){let e={};for(let t=0;t<i.length;t++){let n=Yr(i[t]);for(let r in n)e[r]=n[r]}return e}function Of(i){return i&&(i.isColor||i.isMatrix3||i.isMatrix4||i.isVector2||i.isVector3||i.isVector4||i.isTexture||i.isQuaternion)}function tb(i){let e=[];for(let t=0;t<i.length;t++)e.push(i[t].clone());return e}function Uh(i){let e=i.getRenderTarget();return e===null?i.outputColorSpace:e.isXRRenderTarget===!0?e.texture.colorSpace:Ut.workingColorSpace}var Dp={clone:Yr,merge:On},nb=`void main() {
	gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 );
}`,ib=`void main() {
	gl_FragColor = vec4( 1.0, 0.0, 0.0, 1.0 );
}`,Ui=class extends nr{constructor(e){super(),this.isShaderMaterial=!0,this.type="ShaderMaterial",this.defines={},this.uniforms={},this.uniformsGroups=[],this.vertexShader=nb,this.fragmentShader=ib,this.linewidth=1,this.wireframe=!1,this.wireframeLinewidth=1,this.fog=!1,this.lights=!1,this.clipping=!1,this.forceSinglePass=!0,this.extensions={clipCullDistance:!1,multiDraw:!1},this.defaultAttributeValues={color:[1,1,1],uv:[0,0],uv1:[0,0]},this.index0AttributeName=void 0,this.uniformsNeedUpdate=!1,this.glslVersion=null,e!==void 0&&this.setValues(e)}copy(e){return super.copy(e),this.fragmentShader=e.fragmentShader,this.vertexShader=e.vertexShader,this.uniforms=Yr(e.uniforms),this.uniformsGroups=tb(e.uniformsGroups),this.defines=Object.assign({},e.defines),this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this.fog=e.fog,this.lights=e.lights,this.clipping=e.clipping,this.extensions=Object.assign({},e.extensions),this.glslVersion=e.glslVersion,this.defaultAttributeValues=Object.assign({},e.defaultAttributeValues),this.index0AttributeName=e.index0AttributeName,this.uniformsNeedUpdate=e.uniformsNeedUpdate,this}toJSON(e){let t=super.toJSON(e);t.glslVersion=this.glslVersion,t.uniforms={};for(let r in this.uniforms){let l=this.uniforms[r].value;l&&l.isTexture?t.uniforms[r]={type:"t",value:l.toJSON(e).uuid}:l&&l.isColor?t.uniforms[r]={type:"c",value:l.getHex()}:l&&l.isVector2?t.uniforms[r]={type:"v2",value:l.toArray()}:l&&l.isVector3?t.uniforms[r]={type:"v3",value:l.toArray()}:l&&l.isVector4?t.uniforms[r]={type:"v4",value:l.toArray()}:l&&l.isMatrix3?t.uniforms[r]={type:"m3",value:l.toArray()}:l&&l.isMatrix4?t.uniforms[r]={type:"m4",value:l.toArray()}:t.uniforms[r]={value:l}}Object.keys(this.defines).length>0&&(t.defines=this.defines),t.vertexShader=this.vertexShader,t.fragmentShader=this.fragmentShader,t.lights=this.lights,t.clipping=this.clipping;let n={};for(let r in this.extensions)this.extensions[r]===!0&&(n[r]=!0);return Object.keys(n).length>0&&(t.extensions=n),t}fromJSON(e,t){if(super.fromJSON(e,t),e.uniforms!==void 0)for(let n in e.uniforms){let r=e.uniforms[n];switch(this.uniforms[n]={},r.type){case"t":this.uniforms[n].value=t[r.value]||null;break;case"c":this.uniforms[n].value=new wt().setHex(r.value);break;case"v2":this.uniforms[n].value=new Lt().fromArray(r.value);break;case"v3":this.uniforms[n].value=new re().fromArray(r.value);break;case"v4":this.uniforms[n].value=new fn().fromArray(r.value);break;case"m3":this.uniforms[n].value=new yt().fromArray(r.value);break;case"m4":this.uniforms[n].value=new Yt().fromArray(r.value);break;default:this.uniforms[n].value=r.value}}if(e.defines!==void 0&&(this.defines=e.defines),e.vertexShader!==void 0&&(this.vertexShader=e.vertexShader),e.fragmentShader!==void 0&&(this.fragmentShader=e.fragmentShader),e.glslVersion!==void 0&&(this.glslVersion=e.glslVersion),e.extensions!==void 0)for(let n in e.extensions)this.extensions[n]=e.extensions[n];return e.lights!==void 0&&(this.lights=e.lights),e.clipping!==void 0&&(this.clipping=e.clipping),this}},wl=class extends Ui{constructor(e){super(e),this.isRawShaderMaterial=!0,this.type="RawShaderMaterial"}},Wr=class extends nr{constructor(e){super(),this.isMeshStandardMaterial=!0,this.type="MeshStandardMaterial",this.defines={STANDARD:""},this.color=new wt(16777215),this.roughness=1,this.metalness=0,this.map=null,this.lightMap=null,this.lightMapIntensity=1,this.aoMap=null,this.aoMapIntensity=1,this.emissive=new wt(0),this.emissiveIntensity=1,this.emissiveMap=null,this.bumpMap=null,this.bumpScale=1,this.normalMap=null,this.normalMapType=Mc,this.normalScale=new Lt(1,1),this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.roughnessMap=null,this.metalnessMap=null,this.alphaMap=null,this.envMap=null,this.envMapRotation=new er,this.envMapIntensity=1,this.wireframe=!1,this.wireframeLinewidth=1,this.wireframeLinecap="round",this.wireframeLinejoin="round",this.flatShading=!1,this.fog=!0,this.setValues(e)}copy(e){return super.copy(e),this.defines={STANDARD:""},this.color.copy(e.color),this.roughness=e.roughness,this.metalness=e.metalness,this.map=e.map,this.lightMap=e.lightMap,this.lightMapIntensity=e.lightMapIntensity,this.aoMap=e.aoMap,this.aoMapIntensity=e.aoMapIntensity,this.emissive.copy(e.emissive),this.emissiveMap=e.emissiveMap,this.emissiveIntensity=e.emissiveIntensity,this.bumpMap=e.bumpMap,this.bumpScale=e.bumpScale,this.normalMap=e.normalMap,this.normalMapType=e.normalMapType,this.normalScale.copy(e.normalScale),this.displacementMap=e.displacementMap,this.displacementScale=e.displacementScale,this.displacementBias=e.displacementBias,this.roughnessMap=e.roughnessMap,this.metalnessMap=e.metalnessMap,this.alphaMap=e.alphaMap,this.envMap=e.envMap,this.envMapRotation.copy(e.envMapRotation),this.envMapIntensity=e.envMapIntensity,this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this.wireframeLinecap=e.wireframeLinecap,this.wireframeLinejoin=e.wireframeLinejoin,this.flatShading=e.flatShading,this.fog=e.fog,this}};var Ml=class extends nr{constructor(e){super(),this.isMeshDepthMaterial=!0,this.type="MeshDepthMaterial",this.depthPacking=_p,this.map=null,this.alphaMap=null,this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.wireframe=!1,this.wireframeLinewidth=1,this.setValues(e)}copy(e){return super.copy(e),this.depthPacking=e.depthPacking,this.map=e.map,this.alphaMap=e.alphaMap,this.displacementMap=e.displacementMap,this.displacementScale=e.displacementScale,this.displacementBias=e.displacementBias,this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this}},El=class extends nr{constructor(e){super(),this.isMeshDistanceMaterial=!0,this.type="MeshDistanceMaterial",this.map=null,this.alphaMap=null,this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.setValues(e)}copy(e){return super.copy(e),this.map=e.map,this.alphaMap=e.alphaMap,this.displacementMap=e.displacementMap,this.displacementScale=e.displacementScale,this.displacementBias=e.displacementBias,this}};function Rs(i,e){return!i||i.constructor===e?i:typeof e.BYTES_PER_ELEMENT=="number"?new e(i):Array.prototype.slice.call(i)}function el(i){return i!==void 0&&i.inTangents!==void 0&&i.outTangents!==void 0}var Er=class{constructor(e,t,n,r){this.parameterPositions=e,this._cachedIndex=0,this.resultBuffer=r!==void 0?r:new t.constructor(n),this.sampleValues=t,this.valueSize=n,this.settings=null,this.DefaultSettings_={}}evaluate(e){let t=this.parameterPositions,n=this._cachedIndex,r=t[n],a=t[n-1];e:{t:{let l;n:{i:if(!(e<r)){for(let c=n+2;;){if(r===void 0){if(e<a)break i;return n=t.length,this._cachedIndex=n,this.copySampleValue_(n-1)}if(n===c)break;if(a=r,r=t[++n],e<r)break t}l=t.length;break n}if(!(e>=a)){let c=t[1];e<c&&(n=2,a=c);for(let h=n-2;;){if(a===void 0)return this._cachedIndex=0,this.copySampleValue_(0);if(n===h)break;if(r=a,a=t[--n-1],e>=a)break t}l=n,n=0;break n}break e}for(;n<l;){let c=n+l>>>1;e<t[c]?l=c:n=c+1}if(r=t[n],a=t[n-1],a===void 0)return this._cachedIndex=0,this.copySampleValue_(0);if(r===void 0)return n=t.length,this._cachedIndex=n,this.copySampleValue_(n-1)}this._cachedIndex=n,this.intervalChanged_(n,a,r)}return this.interpolate_(n,a,e,r)}getSettings_(){return this.settings||this.DefaultSettings_}copySampleValue_(e){let t=this.resultBuffer,n=this.sampleValues,r=this.valueSize,a=e*r;for(let l=0;l!==r;++l)t[l]=n[a+l];return t}interpolate_(){throw new Error("THREE.Interpolant: Call to abstract method.")}intervalChanged_(){}},Tl=class extends Er{constructor(e,t,n,r){super(e,t,n,r),this._weightPrev=-0,this._offsetPrev=-0,this._weightNext=-0,this._offsetNext=-0,this.DefaultSettings_={endingStart:Qu,endingEnd:Qu}}intervalChanged_(e,t,n){let r=this.parameterPositions,a=e-2,l=e+1,c=r[a],h=r[l];if(c===void 0)switch(this.getSettings_().endingStart){case eh:a=e,c=2*t-n;break;case th:a=r.length-2,c=t+r[a]-r[a+1];break;default:a=e,c=n}if(h===void 0)switch(this.getSettings_().endingEnd){case eh:l=e,h=2*n-t;break;case th:l=1,h=n+r[1]-r[0];break;default:l=e-1,h=t}let d=(n-t)*.5,p=this.valueSize;this._weightPrev=d/(t-c),this._weightNext=d/(h-n),this._offsetPrev=a*p,this._offsetNext=l*p}interpolate_(e,t,n,r){let a=this.resultBuffer,l=this.sampleValues,c=this.valueSize,h=e*c,d=h-c,p=this._offsetPrev,m=this._offsetNext,g=this._weightPrev,v=this._weightNext,w=(n-t)/(r-t),C=w*w,b=C*w,y=-g*b+2*g*C-g*w,D=(1+g)*b+(-1.5-2*g)*C+(-.5+g)*w+1,U=(-1-v)*b+(1.5+v)*C+.5*w,F=v*b-v*C;for(let k=0;k!==c;++k)a[k]=y*l[p+k]+D*l[d+k]+U*l[h+k]+F*l[m+k];return a}},Al=class extends Er{constructor(e,t,n,r){super(e,t,n,r)}interpolate_(e,t,n,r){let a=this.resultBuffer,l=this.sampleValues,c=this.valueSize,h=e*c,d=h-c,p=(n-t)/(r-t),m=1-p;for(let g=0;g!==c;++g)a[g]=l[d+g]*m+l[h+g]*p;return a}},Rl=class extends Er{constructor(e,t,n,r){super(e,t,n,r)}interpolate_(e){return this.copySampleValue_(e-1)}},Cl=class extends Er{interpolate_(e,t,n,r){let a=this.resultBuffer,l=this.sampleValues,c=this.valueSize,h=e*c,d=h-c,p=this.inTangents,m=this.outTangents;if(!p||!m){let w=(n-t)/(r-t),C=1-w;for(let b=0;b!==c;++b)a[b]=l[d+b]*C+l[h+b]*w;return a}let g=c*2,v=e-1;for(let w=0;w!==c;++w){let C=l[d+w],b=l[h+w],y=v*g+w*2,D=m[y],U=m[y+1],F=e*g+w*2,k=p[F],L=p[F+1],E=sb(n,t,D,k,r);a[w]=Fp(E,C,U,L,b)}return a}};function Fp(i,e,t,n,r){let a=1-i;return a*a*a*e+3*a*a*i*t+3*a*i*i*n+i*i*i*r}function rb(i,e,t,n,r){let a=1-i;return 3*a*a*(t-e)+6*a*i*(n-t)+3*i*i*(r-n)}function sb(i,e,t,n,r){let a=(i-e)/(r-e);for(let l=0;l<8;l++){let c=Fp(a,e,t,n,r)-i;if(Math.abs(c)<1e-10)break;let h=rb(a,e,t,n,r);if(Math.abs(h)<1e-10)break;a=Math.max(0,Math.min(1,a-c/h))}return a}var ri=class{constructor(e,t,n,r){if(e===void 0)throw new Error("THREE.KeyframeTrack: track name is undefined");if(t===void 0||t.length===0)throw new Error("THREE.KeyframeTrack: no keyframes in track named "+e);this.name=e,this.times=Rs(t,this.TimeBufferType),this.values=Rs(n,this.ValueBufferType),this.setInterpolation(r||this.DefaultInterpolation)}static toJSON(e){let t=e.constructor,n;if(t.toJSON!==this.toJSON)n=t.toJSON(e);else{n={name:e.name,times:Rs(e.times,Array),values:Rs(e.values,Array)};let r=e.getInterpolation();r!==e.DefaultInterpolation&&(n.interpolation=r),el(e.settings)&&(n.settings={inTangents:Rs(e.settings.inTangents,Array),outTangents:Rs(e.settings.outTangents,Array)})}return n.type=e.ValueTypeName,n}InterpolantFactoryMethodDiscrete(e){return new Rl(this.times,this.values,this.getValueSize(),e)}InterpolantFactoryMethodLinear(e){return new Al(this.times,this.values,this.getValueSize(),e)}InterpolantFactoryMethodSmooth(e){return new Tl(this.times,this.values,this.getValueSize(),e)}InterpolantFactoryMethodBezier(e){let t=new Cl(this.times,this.values,this.getValueSize(),e);return this.settings&&(t.inTangents=this.settings.inTangents,t.outTangents=this.settings.outTangents),t}setInterpolation(e){let t;switch(e){case Sa:t=this.InterpolantFactoryMethodDiscrete;break;case pl:t=this.InterpolantFactoryMethodLinear;break;case rl:t=this.InterpolantFactoryMethodSmooth;break;case Ku:t=this.InterpolantFactoryMethodBezier;break}if(t===void 0){let n="unsupported interpolation for "+this.ValueTypeName+" keyframe track named "+this.name;if(this.createInterpolant===void 0)if(e!==this.DefaultInterpolation)this.setInterpolation(this.DefaultInterpolation);else throw new Error(n);return ht("KeyframeTrack:",n),this}return this.createInterpolant=t,this}getInterpolation(){switch(this.createInterpolant){case this.InterpolantFactoryMethodDiscrete:return Sa;case this.InterpolantFactoryMethodLinear:return pl;case this.InterpolantFactoryMethodSmooth:return rl;case this.InterpolantFactoryMethodBezier:return Ku}}getValueSize(){return this.values.length/this.times.length}shift(e){if(e!==0){let t=this.times;for(let n=0,r=t.length;n!==r;++n)t[n]+=e;el(this.settings)&&(Bf(this.settings.inTangents,e),Bf(this.settings.outTangents,e))}return this}scale(e){if(e!==1){let t=this.times;for(let n=0,r=t.length;n!==r;++n)t[n]*=e;el(this.settings)&&(kf(this.settings.inTangents,e),kf(this.settings.outTangents,e))}return this}trim(e,t){let n=this.times,r=n.length,a=0,l=r-1;for(;a!==r&&n[a]<e;)++a;for(;l!==-1&&n[l]>t;)--l;if(++l,a!==0||l!==r){a>=l&&(l=Math.max(l,1),a=l-1);let c=this.getValueSize();this.times=n.slice(a,l),this.values=this.values.slice(a*c,l*c)}return this}validate(){let e=!0,t=this.getValueSize();t-Math.floor(t)!==0&&(pt("KeyframeTrack: Invalid value size in track.",this),e=!1);let n=this.times,r=this.values,a=n.length;a===0&&(pt("KeyframeTrack: Track is empty.",this),e=!1);let l=null;for(let c=0;c!==a;c++){let h=n[c];if(typeof h=="number"&&isNaN(h)){pt("KeyframeTrack: Time is not a valid number.",this,c,h),e=!1;break}if(l!==null&&l>h){pt("KeyframeTrack: Out of order keys.",this,c,h,l),e=!1;break}l=h}if(r!==void 0&&xx(r))for(let c=0,h=r.length;c!==h;++c){let d=r[c];if(isNaN(d)){pt("KeyframeTrack: Value is not a valid number.",this,c,d),e=!1;break}}return e}optimize(){let e=this.times.slice(),t=this.values.slice(),n=this.getValueSize(),r=this.getInterpolation()===rl,a=e.length-1,l=1;for(let c=1;c<a;++c){let h=!1,d=e[c],p=e[c+1];if(d!==p&&(c!==1||d!==e[0]))if(r)h=!0;else{let m=c*n,g=m-n,v=m+n;for(let w=0;w!==n;++w){let C=t[m+w];if(C!==t[g+w]||C!==t[v+w]){h=!0;break}}}if(h){if(c!==l){e[l]=e[c];let m=c*n,g=l*n;for(let v=0;v!==n;++v)t[g+v]=t[m+v]}++l}}if(a>0){e[l]=e[a];for(let c=a*n,h=l*n,d=0;d!==n;++d)t[h+d]=t[c+d];++l}return l!==e.length?(this.times=e.slice(0,l),this.values=t.slice(0,l*n)):(this.times=e,this.values=t),this}clone(){let e=this.times.slice(),t=this.values.slice(),n=this.constructor,r=new n(this.name,e,t);return r.createInterpolant=this.createInterpolant,el(this.settings)&&(r.settings={inTangents:this.settings.inTangents.slice(),outTangents:this.settings.outTangents.slice()}),r}};function Bf(i,e){for(let t=0,n=i.length;t!==n;t+=2)i[t]+=e}function kf(i,e){for(let t=0,n=i.length;t!==n;t+=2)i[t]*=e}ri.prototype.ValueTypeName="";ri.prototype.TimeBufferType=Float32Array;ri.prototype.ValueBufferType=Float32Array;ri.prototype.DefaultInterpolation=pl;var Tr=class extends ri{constructor(e,t,n){super(e,t,n)}};Tr.prototype.ValueTypeName="bool";Tr.prototype.ValueBufferType=Array;Tr.prototype.DefaultInterpolation=Sa;Tr.prototype.InterpolantFactoryMethodLinear=void 0;Tr.prototype.InterpolantFactoryMethodSmooth=void 0;var Pl=class extends ri{constructor(e,t,n,r){super(e,t,n,r)}};Pl.prototype.ValueTypeName="color";var Il=class extends ri{constructor(e,t,n,r){super(e,t,n,r)}};Il.prototype.ValueTypeName="number";var Ll=class extends Er{constructor(e,t,n,r){super(e,t,n,r)}interpolate_(e,t,n,r){let a=this.resultBuffer,l=this.sampleValues,c=this.valueSize,h=(n-t)/(r-t),d=e*c;for(let p=d+c;d!==p;d+=4)pi.slerpFlat(a,0,l,d-c,l,d,h);return a}},Ga=class extends ri{constructor(e,t,n,r){super(e,t,n,r)}InterpolantFactoryMethodLinear(e){return new Ll(this.times,this.values,this.getValueSize(),e)}};Ga.prototype.ValueTypeName="quaternion";Ga.prototype.InterpolantFactoryMethodSmooth=void 0;var Ar=class extends ri{constructor(e,t,n){super(e,t,n)}};Ar.prototype.ValueTypeName="string";Ar.prototype.ValueBufferType=Array;Ar.prototype.DefaultInterpolation=Sa;Ar.prototype.InterpolantFactoryMethodLinear=void 0;Ar.prototype.InterpolantFactoryMethodSmooth=void 0;var Dl=class extends ri{constructor(e,t,n,r){super(e,t,n,r)}};Dl.prototype.ValueTypeName="vector";var Fl=class{constructor(e,t,n){let r=this,a=!1,l=0,c=0,h,d=[];this.onStart=void 0,this.onLoad=e,this.onProgress=t,this.onError=n,this._abortController=null,this.itemStart=function(p){c++,a===!1&&r.onStart!==void 0&&r.onStart(p,l,c),a=!0},this.itemEnd=function(p){l++,r.onProgress!==void 0&&r.onProgress(p,l,c),l===c&&(a=!1,r.onLoad!==void 0&&r.onLoad())},this.itemError=function(p){r.onError!==void 0&&r.onError(p)},this.resolveURL=function(p){return p=p.normalize("NFC"),h?h(p):p},this.setURLModifier=function(p){return h=p,this},this.addHandler=function(p,m){return d.push(p,m),this},this.removeHandler=function(p){let m=d.indexOf(p);return m!==-1&&d.splice(m,2),this},this.getHandler=function(p){for(let m=0,g=d.length;m<g;m+=2){let v=d[m],w=d[m+1];if(v.global&&(v.lastIndex=0),v.test(p))return w}return null},this.abort=function(){return this.abortController.abort(),this._abortController=null,this}}get abortController(){return this._abortController||(this._abortController=new AbortController),this._abortController}},Np=new Fl,Nl=class{constructor(e){this.manager=e!==void 0?e:Np,this.crossOrigin="anonymous",this.withCredentials=!1,this.path="",this.resourcePath="",this.requestHeader={},this.priority="auto",this.cache="default",typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("observe",{detail:this}))}load(){}loadAsync(e,t){let n=this;return new Promise(function(r,a){n.load(e,r,t,a)})}parse(){}setCrossOrigin(e){return this.crossOrigin=e,this}setWithCredentials(e){return this.withCredentials=e,this}setPath(e){return this.path=e,this}setResourcePath(e){return this.resourcePath=e,this}setRequestHeader(e){return this.requestHeader=e,this}setPriority(e){return this.priority=e,this}setCache(e){return this.cache=e,this}abort(){return this}};Nl.DEFAULT_MATERIAL_NAME="__DEFAULT";var Va=class extends An{static registerNode(e){this.prototype._lightNode=e}constructor(e,t=1){super(),this.isLight=!0,this.type="Light",this.color=new wt(e),this.intensity=t}copy(e,t){return super.copy(e,t),this.color.copy(e.color),this.intensity=e.intensity,this}toJSON(e){let t=super.toJSON(e);return t.object.color=this.color.getHex(),t.object.intensity=this.intensity,t}},Ha=class extends Va{constructor(e,t,n){super(e,n),this.isHemisphereLight=!0,this.type="HemisphereLight",this.position.copy(An.DEFAULT_UP),this.updateMatrix(),this.groundColor=new wt(t)}copy(e,t){return super.copy(e,t),this.groundColor.copy(e.groundColor),this}toJSON(e){let t=super.toJSON(e);return t.object.groundColor=this.groundColor.getHex(),t}},Ju=new Yt,zf=new re,Gf=new re,Ul=class{constructor(e){this.camera=e,this.intensity=1,this.bias=0,this.biasNode=null,this.normalBias=0,this.radius=1,this.blurSamples=8,this.mapSize=new Lt(512,512),this.mapType=Jn,this.map=null,this.mapPass=null,this.matrix=new Yt,this.autoUpdate=!0,this.needsUpdate=!1,this._frustum=new Sr,this._frameExtents=new Lt(1,1),this._viewportCount=1,this._viewports=[new fn(0,0,1,1)]}getViewportCount(){return this._viewportCount}getCamera(){return this.camera}getFrustum(){return this._frustum}updateMatrices(e){let t=this.camera;zf.setFromMatrixPosition(e.matrixWorld),t.position.copy(zf),Gf.setFromMatrixPosition(e.target.matrixWorld),t.lookAt(Gf),t.updateMatrixWorld(),this._updateMatrix(t,this.matrix,this._frustum)}_updateMatrix(e,t,n,r){Ju.multiplyMatrices(e.projectionMatrix,e.matrixWorldInverse),n.setFromProjectionMatrix(Ju,e.coordinateSystem,e.reversedDepth);let a=this._frameExtents,l=r?r.z/a.x:1,c=r?r.w/a.y:1,h=r?r.x/a.x:0,d=r?r.y/a.y:0;e.coordinateSystem===Fs||e.reversedDepth?t.set(.5*l,0,0,.5*l+h,0,.5*c,0,.5*c+d,0,0,1,0,0,0,0,1):t.set(.5*l,0,0,.5*l+h,0,.5*c,0,.5*c+d,0,0,.5,.5,0,0,0,1),t.multiply(Ju)}getViewport(e){return this._viewports[e]}getFrameExtents(){return this._frameExtents}dispose(){this.map&&this.map.dispose(),this.mapPass&&this.mapPass.dispose()}copy(e){return this.camera=e.camera.clone(),this.intensity=e.intensity,this.bias=e.bias,this.radius=e.radius,this.autoUpdate=e.autoUpdate,this.needsUpdate=e.needsUpdate,this.normalBias=e.normalBias,this.blurSamples=e.blurSamples,this.mapSize.copy(e.mapSize),this.mapType=e.mapType,this.biasNode=e.biasNode,this}clone(){return new this.constructor().copy(this)}toJSON(){let e={};return e.intensity=this.intensity,e.bias=this.bias,e.normalBias=this.normalBias,e.radius=this.radius,e.blurSamples=this.blurSamples,e.mapSize=this.mapSize.toArray(),e.mapType=this.mapType,e.camera=this.camera.toJSON(!1).object,delete e.camera.matrix,e}},tl=new re,nl=new pi,Li=new re,Wa=class extends An{constructor(){super(),this.isCamera=!0,this.type="Camera",this.matrixWorldInverse=new Yt,this.projectionMatrix=new Yt,this.projectionMatrixInverse=new Yt,this.coordinateSystem=fi,this._reversedDepth=!1}get reversedDepth(){return this._reversedDepth}copy(e,t){return super.copy(e,t),this.matrixWorldInverse.copy(e.matrixWorldInverse),this.projectionMatrix.copy(e.projectionMatrix),this.projectionMatrixInverse.copy(e.projectionMatrixInverse),this.coordinateSystem=e.coordinateSystem,this}getWorldDirection(e){return super.getWorldDirection(e).negate()}updateMatrixWorld(e){super.updateMatrixWorld(e),this.matrixWorld.decompose(tl,nl,Li),Li.x===1&&Li.y===1&&Li.z===1?this.matrixWorldInverse.copy(this.matrixWorld).invert():this.matrixWorldInverse.compose(tl,nl,Li.set(1,1,1)).invert()}updateWorldMatrix(e,t,n=!1){super.updateWorldMatrix(e,t,n),this.matrixWorld.decompose(tl,nl,Li),Li.x===1&&Li.y===1&&Li.z===1?this.matrixWorldInverse.copy(this.matrixWorld).invert():this.matrixWorldInverse.compose(tl,nl,Li.set(1,1,1)).invert()}clone(){return new this.constructor().copy(this)}},yr=new re,Vf=new Lt,Hf=new Lt,Vn=class extends Wa{constructor(e=50,t=1,n=.1,r=2e3){super(),this.isPerspectiveCamera=!0,this.type="PerspectiveCamera",this.fov=e,this.zoom=1,this.near=n,this.far=r,this.focus=10,this.aspect=t,this.view=null,this.filmGauge=35,this.filmOffset=0,this.updateProjectionMatrix()}copy(e,t){return super.copy(e,t),this.fov=e.fov,this.zoom=e.zoom,this.near=e.near,this.far=e.far,this.focus=e.focus,this.aspect=e.aspect,this.view=e.view===null?null:Object.assign({},e.view),this.filmGauge=e.filmGauge,this.filmOffset=e.filmOffset,this}setFocalLength(e){let t=.5*this.getFilmHeight()/e;this.fov=Us*2*Math.atan(t),this.updateProjectionMatrix()}getFocalLength(){let e=Math.tan(xa*.5*this.fov);return .5*this.getFilmHeight()/e}getEffectiveFOV(){return Us*2*Math.atan(Math.tan(xa*.5*this.fov)/this.zoom)}getFilmWidth(){return this.filmGauge*Math.min(this.aspect,1)}getFilmHeight(){return this.filmGauge/Math.max(this.aspect,1)}getViewBounds(e,t,n){yr.set(-1,-1,.5).applyMatrix4(this.projectionMatrixInverse),t.set(yr.x,yr.y).multiplyScalar(-e/yr.z),yr.set(1,1,.5).applyMatrix4(this.projectionMatrixInverse),n.set(yr.x,yr.y).multiplyScalar(-e/yr.z)}getViewSize(e,t){return this.getViewBounds(e,Vf,Hf),t.subVectors(Hf,Vf)}setViewOffset(e,t,n,r,a,l){this.aspect=e/t,this.view===null&&(this.view={enabled:!0,fullWidth:1,fullHeight:1,offsetX:0,offsetY:0,width:1,height:1}),this.view.enabled=!0,this.view.fullWidth=e,this.view.fullHeight=t,this.view.offsetX=n,this.view.offsetY=r,this.view.width=a,this.view.height=l,this.updateProjectionMatrix()}clearViewOffset(){this.view!==null&&(this.view.enabled=!1),this.updateProjectionMatrix()}updateProjectionMatrix(){let e=this.near,t=e*Math.tan(xa*.5*this.fov)/this.zoom,n=2*t,r=this.aspect*n,a=-.5*r,l=this.view;if(this.view!==null&&this.view.enabled){let h=l.fullWidth,d=l.fullHeight;a+=l.offsetX*r/h,t-=l.offsetY*n/d,r*=l.width/h,n*=l.height/d}let c=this.filmOffset;c!==0&&(a+=e*c/this.getFilmWidth()),this.projectionMatrix.makePerspective(a,a+r,t,t-n,e,this.far,this.coordinateSystem,this.reversedDepth),this.projectionMatrixInverse.copy(this.projectionMatrix).invert()}toJSON(e){let t=super.toJSON(e);return t.object.fov=this.fov,t.object.zoom=this.zoom,t.object.near=this.near,t.object.far=this.far,t.object.focus=this.focus,t.object.aspect=this.aspect,this.view!==null&&(t.object.view=Object.assign({},this.view)),t.object.filmGauge=this.filmGauge,t.object.filmOffset=this.filmOffset,t}};var $a=class extends Wa{constructor(e=-1,t=1,n=1,r=-1,a=.1,l=2e3){super(),this.isOrthographicCamera=!0,this.type="OrthographicCamera",this.zoom=1,this.view=null,this.left=e,this.right=t,this.top=n,this.bottom=r,this.near=a,this.far=l,this.updateProjectionMatrix()}copy(e,t){return super.copy(e,t),this.left=e.left,this.right=e.right,this.top=e.top,this.bottom=e.bottom,this.near=e.near,this.far=e.far,this.zoom=e.zoom,this.view=e.view===null?null:Object.assign({},e.view),this}setViewOffset(e,t,n,r,a,l){this.view===null&&(this.view={enabled:!0,fullWidth:1,fullHeight:1,offsetX:0,offsetY:0,width:1,height:1}),this.view.enabled=!0,this.view.fullWidth=e,this.view.fullHeight=t,this.view.offsetX=n,this.view.offsetY=r,this.view.width=a,this.view.height=l,this.updateProjectionMatrix()}clearViewOffset(){this.view!==null&&(this.view.enabled=!1),this.updateProjectionMatrix()}updateProjectionMatrix(){let e=(this.right-this.left)/(2*this.zoom),t=(this.top-this.bottom)/(2*this.zoom),n=(this.right+this.left)/2,r=(this.top+this.bottom)/2,a=n-e,l=n+e,c=r+t,h=r-t;if(this.view!==null&&this.view.enabled){let d=(this.right-this.left)/this.view.fullWidth/this.zoom,p=(this.top-this.bottom)/this.view.fullHeight/this.zoom;a+=d*this.view.offsetX,l=a+d*this.view.width,c-=p*this.view.offsetY,h=c-p*this.view.height}this.projectionMatrix.makeOrthographic(a,l,c,h,this.near,this.far,this.coordinateSystem,this.reversedDepth),this.projectionMatrixInverse.copy(this.projectionMatrix).invert()}toJSON(e){let t=super.toJSON(e);return t.object.zoom=this.zoom,t.object.left=this.left,t.object.right=this.right,t.object.top=this.top,t.object.bottom=this.bottom,t.object.near=this.near,t.object.far=this.far,this.view!==null&&(t.object.view=Object.assign({},this.view)),t}},nh=class extends Ul{constructor(){super(new $a(-5,5,5,-5,.5,500)),this.isDirectionalLightShadow=!0}},Xa=class extends Va{constructor(e,t){super(e,t),this.isDirectionalLight=!0,this.type="DirectionalLight",this.position.copy(An.DEFAULT_UP),this.updateMatrix(),this.target=new An,this.shadow=new nh}dispose(){super.dispose(),this.shadow.dispose()}copy(e){return super.copy(e),this.target=e.target.clone(),this.shadow=e.shadow.clone(),this}toJSON(e){let t=super.toJSON(e);return t.object.shadow=this.shadow.toJSON(),t.object.target=this.target.uuid,t}};var Cs=-90,Ps=1,zs=class extends An{constructor(e,t,n){super(),this.type="CubeCamera",this.renderTarget=n,this.coordinateSystem=null,this.activeMipmapLevel=0;let r=new Vn(Cs,Ps,e,t);r.layers=this.layers,this.add(r);let a=new Vn(Cs,Ps,e,t);a.layers=this.layers,this.add(a);let l=new Vn(Cs,Ps,e,t);l.layers=this.layers,this.add(l);let c=new Vn(Cs,Ps,e,t);c.layers=this.layers,this.add(c);let h=new Vn(Cs,Ps,e,t);h.layers=this.layers,this.add(h);let d=new Vn(Cs,Ps,e,t);d.layers=this.layers,this.add(d)}updateCoordinateSystem(){let e=this.coordinateSystem,t=this.children.concat(),[n,r,a,l,c,h]=t;for(let d of t)this.remove(d);if(e===fi)n.up.set(0,1,0),n.lookAt(1,0,0),r.up.set(0,1,0),r.lookAt(-1,0,0),a.up.set(0,0,-1),a.lookAt(0,1,0),l.up.set(0,0,1),l.lookAt(0,-1,0),c.up.set(0,1,0),c.lookAt(0,0,1),h.up.set(0,1,0),h.lookAt(0,0,-1);else if(e===Fs)n.up.set(0,-1,0),n.lookAt(-1,0,0),r.up.set(0,-1,0),r.lookAt(1,0,0),a.up.set(0,0,1),a.lookAt(0,1,0),l.up.set(0,0,-1),l.lookAt(0,-1,0),c.up.set(0,-1,0),c.lookAt(0,0,1),h.up.set(0,-1,0),h.lookAt(0,0,-1);else throw new Error("THREE.CubeCamera.updateCoordinateSystem(): Invalid coordinate system: "+e);for(let d of t)this.add(d),d.updateMatrixWorld()}update(e,t){this.parent===null&&this.updateMatrixWorld();let{renderTarget:n,activeMipmapLevel:r}=this;this.coordinateSystem!==e.coordinateSystem&&(this.coordinateSystem=e.coordinateSystem,this.updateCoordinateSystem());let[a,l,c,h,d,p]=this.children,m=e.getRenderTarget(),g=e.getActiveCubeFace(),v=e.getActiveMipmapLevel(),w=e.xr.enabled;e.xr.enabled=!1;let C=n.texture.mipmapsAutoUpdate;n.texture.mipmapsAutoUpdate=!1;let b=!1;e.isWebGLRenderer===!0?b=e.state.buffers.depth.getReversed():b=e.reversedDepthBuffer,e.setRenderTarget(n,0,r),b&&e.autoClear===!1&&e.clearDepth(),e.render(t,a),e.setRenderTarget(n,1,r),b&&e.autoClear===!1&&e.clearDepth(),e.render(t,l),e.setRenderTarget(n,2,r),b&&e.autoClear===!1&&e.clearDepth(),e.render(t,c),e.setRenderTarget(n,3,r),b&&e.autoClear===!1&&e.clearDepth(),e.render(t,h),e.setRenderTarget(n,4,r),b&&e.autoClear===!1&&e.clearDepth(),e.render(t,d),n.texture.mipmapsAutoUpdate=C,e.setRenderTarget(n,5,r),b&&e.autoClear===!1&&e.clearDepth(),e.render(t,p),e.setRenderTarget(m,g,v),e.xr.enabled=w,n.texture.needsPMREMUpdate=!0}},Ol=class extends Vn{constructor(e=[]){super(),this.isArrayCamera=!0,this.isMultiViewCamera=!1,this.cameras=e,this.perCameraFrustumCulled=!1}};var Oh="\\[\\]\\.:\\/",ab=new RegExp("["+Oh+"]","g"),Bh="[^"+Oh+"]",ob="[^"+Oh.replace("\\.","")+"]",lb=/((?:WC+[\/:])*)/.source.replace("WC",Bh),cb=/(WCOD+)?/.source.replace("WCOD",ob),ub=/(?:\.(WC+)(?:\[(.+)\])?)?/.source.replace("WC",Bh),hb=/\.(WC+)(?:\[(.+)\])?/.source.replace("WC",Bh),db=new RegExp("^"+lb+cb+ub+hb+"$"),fb=["material","materials","bones","map"],ih=class{constructor(e,t,n){let r=n||un.parseTrackName(t);this._targetGroup=e,this._bindings=e.subscribe_(t,r)}getValue(e,t){this.bind();let n=this._targetGroup.nCachedObjects_,r=this._bindings[n];r!==void 0&&r.getValue(e,t)}setValue(e,t){let n=this._bindings;for(let r=this._targetGroup.nCachedObjects_,a=n.length;r!==a;++r)n[r].setValue(e,t)}bind(){let e=this._bindings;for(let t=this._targetGroup.nCachedObjects_,n=e.length;t!==n;++t)e[t].bind()}unbind(){let e=this._bindings;for(let t=this._targetGroup.nCachedObjects_,n=e.length;t!==n;++t)e[t].unbind()}},un=class i{constructor(e,t,n){this.path=t,this.parsedPath=n||i.parseTrackName(t),this.node=i.findNode(e,this.parsedPath.nodeName),this.rootNode=e,this.getValue=this._getValue_unbound,this.setValue=this._setValue_unbound}static create(e,t,n){return e&&e.isAnimationObjectGroup?new i.Composite(e,t,n):new i(e,t,n)}static sanitizeNodeName(e){return e.replace(/\s/g,"_").replace(ab,"")}static parseTrackName(e){let t=db.exec(e);if(t===null)throw new Error("THREE.PropertyBinding: Cannot parse trackName: "+e);let n={nodeName:t[2],objectName:t[3],objectIndex:t[4],propertyName:t[5],propertyIndex:t[6]},r=n.nodeName&&n.nodeName.lastIndexOf(".");if(r!==void 0&&r!==-1){let a=n.nodeName.substring(r+1);fb.indexOf(a)!==-1&&(n.nodeName=n.nodeName.substring(0,r),n.objectName=a)}if(n.propertyName===null||n.propertyName.length===0)throw new Error("THREE.PropertyBinding: can not parse propertyName from trackName: "+e);return n}static findNode(e,t){if(t===void 0||t===""||t==="."||t===-1||t===e.name||t===e.uuid)return e;if(e.skeleton){let n=e.skeleton.getBoneByName(t);if(n!==void 0)return n}if(e.children){let n=function(a){for(let l=0;l<a.length;l++){let c=a[l];if(c.name===t||c.uuid===t)return c;let h=n(c.children);if(h)return h}return null},r=n(e.children);if(r)return r}return null}_getValue_unavailable(){}_setValue_unavailable(){}_getValue_direct(e,t){e[t]=this.targetObject[this.propertyName]}_getValue_array(e,t){let n=this.resolvedProperty;for(let r=0,a=n.length;r!==a;++r)e[t++]=n[r]}_getValue_arrayElement(e,t){e[t]=this.resolvedProperty[this.propertyIndex]}_getValue_toArray(e,t){this.resolvedProperty.toArray(e,t)}_setValue_direct(e,t){this.targetObject[this.propertyName]=e[t]}_setValue_direct_setNeedsUpdate(e,t){this.targetObject[this.propertyName]=e[t],this.targetObject.needsUpdate=!0}_setValue_direct_setMatrixWorldNeedsUpdate(e,t){this.targetObject[this.propertyName]=e[t],this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_array(e,t){let n=this.resolvedProperty;for(let r=0,a=n.length;r!==a;++r)n[r]=e[t++]}_setValue_array_setNeedsUpdate(e,t){let n=this.resolvedProperty;for(let r=0,a=n.length;r!==a;++r)n[r]=e[t++];this.targetObject.needsUpdate=!0}_setValue_array_setMatrixWorldNeedsUpdate(e,t){let n=this.resolvedProperty;for(let r=0,a=n.length;r!==a;++r)n[r]=e[t++];this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_arrayElement(e,t){this.resolvedProperty[this.propertyIndex]=e[t]}_setValue_arrayElement_setNeedsUpdate(e,t){this.resolvedProperty[this.propertyIndex]=e[t],this.targetObject.needsUpdate=!0}_setValue_arrayElement_setMatrixWorldNeedsUpdate(e,t){this.resolvedProperty[this.propertyIndex]=e[t],this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_fromArray(e,t){this.resolvedProperty.fromArray(e,t)}_setValue_fromArray_setNeedsUpdate(e,t){this.resolvedProperty.fromArray(e,t),this.targetObject.needsUpdate=!0}_setValue_fromArray_setMatrixWorldNeedsUpdate(e,t){this.resolvedProperty.fromArray(e,t),this.targetObject.matrixWorldNeedsUpdate=!0}_getValue_unbound(e,t){this.bind(),this.getValue(e,t)}_setValue_unbound(e,t){this.bind(),this.setValue(e,t)}bind(){let e=this.node,t=this.parsedPath,n=t.objectName,r=t.propertyName,a=t.propertyIndex;if(e||(e=i.findNode(this.rootNode,t.nodeName),this.node=e),this.getValue=this._getValue_unavailable,this.setValue=this._setValue_unavailable,!e){ht("PropertyBinding: No target node found for track: "+this.path+".");return}if(n){let d=t.objectIndex;switch(n){case"materials":if(!e.material){pt("PropertyBinding: Can not bind to material as node does not have a material.",this);return}if(!e.material.materials){pt("PropertyBinding: Can not bind to material.materials as node.material does not have a materials array.",this);return}e=e.material.materials;break;case"bones":if(!e.skeleton){pt("PropertyBinding: Can not bind to bones as node does not have a skeleton.",this);return}e=e.skeleton.bones;for(let p=0;p<e.length;p++)if(e[p].name===d){d=p;break}break;case"map":if("map"in e){e=e.map;break}if(!e.material){pt("PropertyBinding: Can not bind to material as node does not have a material.",this);return}if(!e.material.map){pt("PropertyBinding: Can not bind to material.map as node.material does not have a map.",this);return}e=e.material.map;break;default:if(e[n]===void 0){pt("PropertyBinding: Can not bind to objectName of node undefined.",this);return}e=e[n]}if(d!==void 0){if(e[d]===void 0){pt("PropertyBinding: Trying to bind to objectIndex of objectName, but is undefined.",this,e);return}e=e[d]}}let l=e[r];if(l===void 0){let d=t.nodeName;pt("PropertyBinding: Trying to update property for track: "+d+"."+r+" but it wasn't found.",e);return}let c=this.Versioning.None;this.targetObject=e,e.isMaterial===!0?c=this.Versioning.NeedsUpdate:e.isObject3D===!0&&(c=this.Versioning.MatrixWorldNeedsUpdate);let h=this.BindingType.Direct;if(a!==void 0){if(r==="morphTargetInfluences"){if(!e.geometry){pt("PropertyBinding: Can not bind to morphTargetInfluences because node does not have a geometry.",this);return}if(!e.geometry.morphAttributes){pt("PropertyBinding: Can not bind to morphTargetInfluences because node does not have a geometry.morphAttributes.",this);return}e.morphTargetDictionary[a]!==void 0&&(a=e.morphTargetDictionary[a])}h=this.BindingType.ArrayElement,this.resolvedProperty=l,this.propertyIndex=a}else l.fromArray!==void 0&&l.toArray!==void 0?(h=this.BindingType.HasFromToArray,this.resolvedProperty=l):Array.isArray(l)?(h=this.BindingType.EntireArray,this.resolvedProperty=l):this.propertyName=r;this.getValue=this.GetterByBindingType[h],this.setValue=this.SetterByBindingTypeAndVersioning[h][c]}unbind(){this.node=null,this.getValue=this._getValue_unbound,this.setValue=this._setValue_unbound}};un.Composite=ih;un.prototype.BindingType={Direct:0,EntireArray:1,ArrayElement:2,HasFromToArray:3};un.prototype.Versioning={None:0,NeedsUpdate:1,MatrixWorldNeedsUpdate:2};un.prototype.GetterByBindingType=[un.prototype._getValue_direct,un.prototype._getValue_array,un.prototype._getValue_arrayElement,un.prototype._getValue_toArray];un.prototype.SetterByBindingTypeAndVersioning=[[un.prototype._setValue_direct,un.prototype._setValue_direct_setNeedsUpdate,un.prototype._setValue_direct_setMatrixWorldNeedsUpdate],[un.prototype._setValue_array,un.prototype._setValue_array_setNeedsUpdate,un.prototype._setValue_array_setMatrixWorldNeedsUpdate],[un.prototype._setValue_arrayElement,un.prototype._setValue_arrayElement_setNeedsUpdate,un.prototype._setValue_arrayElement_setMatrixWorldNeedsUpdate],[un.prototype._setValue_fromArray,un.prototype._setValue_fromArray_setNeedsUpdate,un.prototype._setValue_fromArray_setMatrixWorldNeedsUpdate]];var x1=new Float32Array(1);var Wf=new Yt,Gs=class{constructor(e,t,n=0,r=1/0){this.ray=new br(e,t),this.near=n,this.far=r,this.camera=null,this.layers=new Bs,this.params={Mesh:{},Line:{threshold:1},LOD:{},Points:{threshold:1},Sprite:{}}}set(e,t){this.ray.set(e,t)}setFromCamera(e,t){t.isPerspectiveCamera?(this.ray.origin.setFromMatrixPosition(t.matrixWorld),this.ray.direction.set(e.x,e.y,.5).unproject(t).sub(this.ray.origin).normalize(),this.camera=t):t.isOrthographicCamera?(this.ray.origin.set(e.x,e.y,t.projectionMatrix.elements[14]).unproject(t),this.ray.direction.set(0,0,-1).transformDirection(t.matrixWorld),this.camera=t):pt("Raycaster: Unsupported camera type: "+t.type)}setFromXRController(e){return Wf.identity().extractRotation(e.matrixWorld),this.ray.origin.setFromMatrixPosition(e.matrixWorld),this.ray.direction.set(0,0,-1).applyMatrix4(Wf),this}intersectObject(e,t=!0,n=[]){return rh(e,this,n,t),n.sort($f),n}intersectObjects(e,t=!0,n=[]){for(let r=0,a=e.length;r<a;r++)rh(e[r],this,n,t);return n.sort($f),n}};function $f(i,e){return i.distance-e.distance}function rh(i,e,t,n){let r=!0;if(i.layers.test(e.layers)&&i.raycast(e,t)===!1&&(r=!1),r===!0&&n===!0){let a=i.children;for(let l=0,c=a.length;l<c;l++)rh(a[l],e,t,!0)}}var sh=class{static{this.prototype.isMatrix2=!0}constructor(e,t,n,r){this.elements=[1,0,0,1],e!==void 0&&this.set(e,t,n,r)}identity(){return this.set(1,0,0,1),this}fromArray(e,t=0){for(let n=0;n<4;n++)this.elements[n]=e[n+t];return this}set(e,t,n,r){let a=this.elements;return a[0]=e,a[2]=t,a[1]=n,a[3]=r,this}};var Xf=new re,il,Zu,qa=class extends An{constructor(e=new re(0,0,1),t=new re(0,0,0),n=1,r=16776960,a=n*.2,l=a*.2){super(),this.type="ArrowHelper",il===void 0&&(il=new $n,il.setAttribute("position",new mn([0,0,0,0,1,0],3)),Zu=new Sl(.5,1,5,1),Zu.translate(0,-.5,0)),this.position.copy(t),this.line=new bl(il,new Na({color:r,toneMapped:!1})),this.line.matrixAutoUpdate=!1,this.add(this.line),this.cone=new Un(Zu,new Ia({color:r,toneMapped:!1})),this.cone.matrixAutoUpdate=!1,this.add(this.cone),this.setDirection(e),this.setLength(n,a,l)}setDirection(e){if(e.y>.99999)this.quaternion.set(0,0,0,1);else if(e.y<-.99999)this.quaternion.set(1,0,0,0);else{Xf.set(e.z,0,-e.x).normalize();let t=Math.acos(e.y);this.quaternion.setFromAxisAngle(Xf,t)}}setLength(e,t=e*.2,n=t*.2){this.line.scale.set(1,Math.max(1e-4,e-t),1),this.line.updateMatrix(),this.cone.scale.set(n,t,n),this.cone.position.y=e,this.cone.updateMatrix()}setColor(e){this.line.material.color.set(e),this.cone.material.color.set(e)}copy(e){return super.copy(e,!1),this.line.copy(e.line),this.cone.copy(e.cone),this}dispose(){super.dispose(),this.line.geometry.dispose(),this.line.material.dispose(),this.cone.geometry.dispose(),this.cone.material.dispose()}};function kh(i,e,t,n){let r=pb(n);switch(t){case Eh:return i*e;case Wl:return i*e/r.components*r.byteLength;case $l:return i*e/r.components*r.byteLength;case Cr:return i*e*2/r.components*r.byteLength;case Xl:return i*e*2/r.components*r.byteLength;case Th:return i*e*3/r.components*r.byteLength;case Ai:return i*e*4/r.components*r.byteLength;case ql:return i*e*4/r.components*r.byteLength;case Ja:case Za:return Math.floor((i+3)/4)*Math.floor((e+3)/4)*8;case Ka:case Qa:return Math.floor((i+3)/4)*Math.floor((e+3)/4)*16;case Yl:case Zl:return Math.max(i,16)*Math.max(e,8)/4;case jl:case Jl:return Math.max(i,8)*Math.max(e,8)/2;case Kl:case Ql:case tc:case nc:return Math.floor((i+3)/4)*Math.floor((e+3)/4)*8;case ec:case eo:case ic:return Math.floor((i+3)/4)*Math.floor((e+3)/4)*16;case rc:return Math.floor((i+3)/4)*Math.floor((e+3)/4)*16;case sc:return Math.floor((i+4)/5)*Math.floor((e+3)/4)*16;case ac:return Math.floor((i+4)/5)*Math.floor((e+4)/5)*16;case oc:return Math.floor((i+5)/6)*Math.floor((e+4)/5)*16;case lc:return Math.floor((i+5)/6)*Math.floor((e+5)/6)*16;case cc:return Math.floor((i+7)/8)*Math.floor((e+4)/5)*16;case uc:return Math.floor((i+7)/8)*Math.floor((e+5)/6)*16;case hc:return Math.floor((i+7)/8)*Math.floor((e+7)/8)*16;case dc:return Math.floor((i+9)/10)*Math.floor((e+4)/5)*16;case fc:return Math.floor((i+9)/10)*Math.floor((e+5)/6)*16;case pc:return Math.floor((i+9)/10)*Math.floor((e+7)/8)*16;case mc:return Math.floor((i+9)/10)*Math.floor((e+9)/10)*16;case gc:return Math.floor((i+11)/12)*Math.floor((e+9)/10)*16;case _c:return Math.floor((i+11)/12)*Math.floor((e+11)/12)*16;case vc:case yc:case xc:return Math.ceil(i/4)*Math.ceil(e/4)*16;case bc:case Sc:return Math.ceil(i/4)*Math.ceil(e/4)*8;case to:case wc:return Math.ceil(i/4)*Math.ceil(e/4)*16}throw new Error(`Unable to determine texture byte length for ${t} format.`)}function pb(i){switch(i){case Jn:case bh:return{byteLength:1,components:1};case $s:case Sh:case Ti:return{byteLength:2,components:1};case Vl:case Hl:return{byteLength:2,components:4};case Ei:case Gl:case mi:return{byteLength:4,components:1};case wh:case Mh:return{byteLength:4,components:3}}throw new Error(`THREE.TextureUtils: Unknown texture type ${i}.`)}typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("register",{detail:{revision:"187"}}));typeof window<"u"&&(window.__THREE__?ht("WARNING: Multiple instances of Three.js being imported."):window.__THREE__="187");function im(){let i=null,e=!1,t=null,n=null;function r(a,l){n=i.requestAnimationFrame(r),t(a,l)}return{start:function(){e!==!0&&t!==null&&i!==null&&(n=i.requestAnimationFrame(r),e=!0)},stop:function(){i!==null&&i.cancelAnimationFrame(n),e=!1},setAnimationLoop:function(a){t=a},setContext:function(a){i=a}}}function gb(i){let e=new WeakMap;function t(c,h){let d=c.array,p=c.usage,m=d.byteLength,g=i.createBuffer();i.bindBuffer(h,g),i.bufferData(h,d,p),c.onUploadCallback();let v;if(d instanceof Float32Array)v=i.FLOAT;else if(typeof Float16Array<"u"&&d instanceof Float16Array)v=i.HALF_FLOAT;else if(d instanceof Uint16Array)c.isFloat16BufferAttribute?v=i.HALF_FLOAT:v=i.UNSIGNED_SHORT;else if(d instanceof Int16Array)v=i.SHORT;else if(d instanceof Uint32Array)v=i.UNSIGNED_INT;else if(d instanceof Int32Array)v=i.INT;else if(d instanceof Int8Array)v=i.BYTE;else if(d instanceof Uint8Array)v=i.UNSIGNED_BYTE;else if(d instanceof Uint8ClampedArray)v=i.UNSIGNED_BYTE;else throw new Error("THREE.WebGLAttributes: Unsupported buffer data format: "+d);return{buffer:g,type:v,bytesPerElement:d.BYTES_PER_ELEMENT,version:c.version,size:m}}function n(c,h,d){let p=h.array,m=h.updateRanges;if(i.bindBuffer(d,c),m.length===0)i.bufferSubData(d,0,p);else{m.sort((v,w)=>v.start-w.start);let g=0;for(let v=1;v<m.length;v++){let w=m[g],C=m[v];C.start<=w.start+w.count+1?w.count=Math.max(w.count,C.start+C.count-w.start):(++g,m[g]=C)}m.length=g+1;for(let v=0,w=m.length;v<w;v++){let C=m[v];i.bufferSubData(d,C.start*p.BYTES_PER_ELEMENT,p,C.start,C.count)}h.clearUpdateRanges()}h.onUploadCallback()}function r(c){return c.isInterleavedBufferAttribute&&(c=c.data),e.get(c)}function a(c){c.isInterleavedBufferAttribute&&(c=c.data);let h=e.get(c);h&&(i.deleteBuffer(h.buffer),e.delete(c))}function l(c,h){if(c.isInterleavedBufferAttribute&&(c=c.data),c.isGLBufferAttribute){let p=e.get(c);(!p||p.version<c.version)&&e.set(c,{buffer:c.buffer,type:c.type,bytesPerElement:c.elementSize,version:c.version});return}let d=e.get(c);if(d===void 0)e.set(c,t(c,h));else if(d.version<c.version){if(d.size!==c.array.byteLength)throw new Error("THREE.WebGLAttributes: The size of the buffer attribute's array buffer does not match the original size. Resizing buffer attributes is not supported.");n(d.buffer,c,h),d.version=c.version}}return{get:r,remove:a,update:l}}var _b=`#ifdef USE_ALPHAHASH
	if ( diffuseColor.a < getAlphaHashThreshold( vPosition ) ) discard;
#endif`,vb=`#ifdef USE_ALPHAHASH
	const float ALPHA_HASH_SCALE = 0.05;
	float hash2D( vec2 value ) {
		return fract( 1.0e4 * sin( 17.0 * value.x + 0.1 * value.y ) * ( 0.1 + abs( sin( 13.0 * value.y + value.x ) ) ) );
	}
	float hash3D( vec3 value ) {
		return hash2D( vec2( hash2D( value.xy ), value.z ) );
	}
	float getAlphaHashThreshold( vec3 position ) {
		float maxDeriv = max(
			length( dFdx( position.xyz ) ),
			length( dFdy( position.xyz ) )
		);
		float pixScale = 1.0 / ( ALPHA_HASH_SCALE * maxDeriv );
		vec2 pixScales = vec2(
			exp2( floor( log2( pixScale ) ) ),
			exp2( ceil( log2( pixScale ) ) )
		);
		vec2 alpha = vec2(
			hash3D( floor( pixScales.x * position.xyz ) ),
			hash3D( floor( pixScales.y * position.xyz ) )
		);
		float lerpFactor = fract( log2( pixScale ) );
		float x = ( 1.0 - lerpFactor ) * alpha.x + lerpFactor * alpha.y;
		float a = min( lerpFactor, 1.0 - lerpFactor );
		vec3 cases = vec3(
			x * x / ( 2.0 * a * ( 1.0 - a ) ),
			( x - 0.5 * a ) / ( 1.0 - a ),
			1.0 - ( ( 1.0 - x ) * ( 1.0 - x ) / ( 2.0 * a * ( 1.0 - a ) ) )
		);
		float threshold = ( x < ( 1.0 - a ) )
			? ( ( x < a ) ? cases.x : cases.y )
			: cases.z;
		return clamp( threshold , 1.0e-6, 1.0 );
	}
#endif`,yb=`#ifdef USE_ALPHAMAP
	diffuseColor.a *= texture2D( alphaMap, vAlphaMapUv ).g;
#endif`,xb=`#ifdef USE_ALPHAMAP
	uniform sampler2D alphaMap;
#endif`,bb=`#ifdef USE_ALPHATEST
	#ifdef ALPHA_TO_COVERAGE
	diffuseColor.a = smoothstep( alphaTest, alphaTest + fwidth( diffuseColor.a ), diffuseColor.a );
	if ( diffuseColor.a == 0.0 ) discard;
	#else
	if ( diffuseColor.a < alphaTest ) discard;
	#endif
#endif`,Sb=`#ifdef USE_ALPHATEST
	uniform float alphaTest;
#endif`,wb=`#ifdef USE_AOMAP
	float ambientOcclusion = ( texture2D( aoMap, vAoMapUv ).r - 1.0 ) * aoMapIntensity + 1.0;
	reflectedLight.indirectDiffuse *= ambientOcclusion;
	#if defined( USE_CLEARCOAT ) 
		clearcoatSpecularIndirect *= ambientOcclusion;
	#endif
	#if defined( USE_SHEEN ) 
		sheenSpecularIndirect *= ambientOcclusion;
	#endif
	#if defined( USE_ENVMAP ) && defined( STANDARD )
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		reflectedLight.indirectSpecular *= computeSpecularOcclusion( dotNV, ambientOcclusion, material.roughness );
	#endif
#endif`,Mb=`#ifdef USE_AOMAP
	uniform sampler2D aoMap;
	uniform float aoMapIntensity;
#endif`,Eb=`#ifdef USE_BATCHING
	#if ! defined( GL_ANGLE_multi_draw )
	#define gl_DrawID _gl_DrawID
	uniform int _gl_DrawID;
	#endif
	uniform highp sampler2D batchingTexture;
	uniform highp usampler2D batchingIdTexture;
	mat4 getBatchingMatrix( const in float i ) {
		int size = textureSize( batchingTexture, 0 ).x;
		int j = int( i ) * 4;
		int x = j % size;
		int y = j / size;
		vec4 v1 = texelFetch( batchingTexture, ivec2( x, y ), 0 );
		vec4 v2 = texelFetch( batchingTexture, ivec2( x + 1, y ), 0 );
		vec4 v3 = texelFetch( batchingTexture, ivec2( x + 2, y ), 0 );
		vec4 v4 = texelFetch( batchingTexture, ivec2( x + 3, y ), 0 );
		return mat4( v1, v2, v3, v4 );
	}
	float getIndirectIndex( const in int i ) {
		int size = textureSize( batchingIdTexture, 0 ).x;
		int x = i % size;
		int y = i / size;
		return float( texelFetch( batchingIdTexture, ivec2( x, y ), 0 ).r );
	}
#endif
#ifdef USE_BATCHING_COLOR
	uniform sampler2D batchingColorTexture;
	vec4 getBatchingColor( const in float i ) {
		int size = textureSize( batchingColorTexture, 0 ).x;
		int j = int( i );
		int x = j % size;
		int y = j / size;
		return texelFetch( batchingColorTexture, ivec2( x, y ), 0 );
	}
#endif`,Tb=`#ifdef USE_BATCHING
	mat4 batchingMatrix = getBatchingMatrix( getIndirectIndex( gl_DrawID ) );
#endif`,Ab=`vec3 transformed = vec3( position );
#ifdef USE_ALPHAHASH
	vPosition = vec3( position );
#endif`,Rb=`vec3 objectNormal = vec3( normal );
#ifdef USE_TANGENT
	vec3 objectTangent = vec3( tangent.xyz );
#endif`,Cb=`float G_BlinnPhong_Implicit( ) {
	return 0.25;
}
float D_BlinnPhong( const in float shininess, const in float dotNH ) {
	return RECIPROCAL_PI * ( shininess * 0.5 + 1.0 ) * pow( dotNH, shininess );
}
vec3 BRDF_BlinnPhong( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in vec3 specularColor, const in float shininess ) {
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNH = saturate( dot( normal, halfDir ) );
	float dotVH = saturate( dot( viewDir, halfDir ) );
	vec3 F = F_Schlick( specularColor, 1.0, dotVH );
	float G = G_BlinnPhong_Implicit( );
	float D = D_BlinnPhong( shininess, dotNH );
	return F * ( G * D );
} // validated`,Pb=`#ifdef USE_IRIDESCENCE
	const mat3 XYZ_TO_REC709 = mat3(
		 3.2404542, -0.9692660,  0.0556434,
		-1.5371385,  1.8760108, -0.2040259,
		-0.4985314,  0.0415560,  1.0572252
	);
	vec3 Fresnel0ToIor( vec3 fresnel0 ) {
		vec3 sqrtF0 = sqrt( fresnel0 );
		return ( vec3( 1.0 ) + sqrtF0 ) / ( vec3( 1.0 ) - sqrtF0 );
	}
	vec3 IorToFresnel0( vec3 transmittedIor, float incidentIor ) {
		return pow2( ( transmittedIor - vec3( incidentIor ) ) / ( transmittedIor + vec3( incidentIor ) ) );
	}
	float IorToFresnel0( float transmittedIor, float incidentIor ) {
		return pow2( ( transmittedIor - incidentIor ) / ( transmittedIor + incidentIor ));
	}
	vec3 evalSensitivity( float OPD, vec3 shift ) {
		float phase = 2.0 * PI * OPD * 1.0e-9;
		vec3 val = vec3( 5.4856e-13, 4.4201e-13, 5.2481e-13 );
		vec3 pos = vec3( 1.6810e+06, 1.7953e+06, 2.2084e+06 );
		vec3 var = vec3( 4.3278e+09, 9.3046e+09, 6.6121e+09 );
		vec3 xyz = val * sqrt( 2.0 * PI * var ) * cos( pos * phase + shift ) * exp( - pow2( phase ) * var );
		xyz.x += 9.7470e-14 * sqrt( 2.0 * PI * 4.5282e+09 ) * cos( 2.2399e+06 * phase + shift[ 0 ] ) * exp( - 4.5282e+09 * pow2( phase ) );
		xyz /= 1.0685e-7;
		vec3 rgb = XYZ_TO_REC709 * xyz;
		return rgb;
	}
	vec3 evalIridescence( float outsideIOR, float eta2, float cosTheta1, float thinFilmThickness, vec3 baseF0 ) {
		vec3 I;
		float iridescenceIOR = mix( outsideIOR, eta2, smoothstep( 0.0, 0.03, thinFilmThickness ) );
		float sinTheta2Sq = pow2( outsideIOR / iridescenceIOR ) * ( 1.0 - pow2( cosTheta1 ) );
		float cosTheta2Sq = 1.0 - sinTheta2Sq;
		if ( cosTheta2Sq < 0.0 ) {
			return vec3( 1.0 );
		}
		float cosTheta2 = sqrt( cosTheta2Sq );
		float R0 = IorToFresnel0( iridescenceIOR, outsideIOR );
		float R12 = F_Schlick( R0, 1.0, cosTheta1 );
		float T121 = 1.0 - R12;
		float phi12 = 0.0;
		if ( iridescenceIOR < outsideIOR ) phi12 = PI;
		float phi21 = PI - phi12;
		vec3 baseIOR = Fresnel0ToIor( clamp( baseF0, 0.0, 0.9999 ) );		vec3 R1 = IorToFresnel0( baseIOR, iridescenceIOR );
		vec3 R23 = F_Schlick( R1, 1.0, cosTheta2 );
		vec3 phi23 = vec3( 0.0 );
		if ( baseIOR[ 0 ] < iridescenceIOR ) phi23[ 0 ] = PI;
		if ( baseIOR[ 1 ] < iridescenceIOR ) phi23[ 1 ] = PI;
		if ( baseIOR[ 2 ] < iridescenceIOR ) phi23[ 2 ] = PI;
		float OPD = 2.0 * iridescenceIOR * thinFilmThickness * cosTheta2;
		vec3 phi = vec3( phi21 ) + phi23;
		vec3 R123 = clamp( R12 * R23, 1e-5, 0.9999 );
		vec3 r123 = sqrt( R123 );
		vec3 Rs = pow2( T121 ) * R23 / ( vec3( 1.0 ) - R123 );
		vec3 C0 = R12 + Rs;
		I = C0;
		vec3 Cm = Rs - T121;
		for ( int m = 1; m <= 2; ++ m ) {
			Cm *= r123;
			vec3 Sm = 2.0 * evalSensitivity( float( m ) * OPD, float( m ) * phi );
			I += Cm * Sm;
		}
		return max( I, vec3( 0.0 ) );
	}
#endif`,Ib=`#ifdef USE_BUMPMAP
	uniform sampler2D bumpMap;
	uniform float bumpScale;
	vec2 dHdxy_fwd() {
		vec2 dSTdx = dFdx( vBumpMapUv );
		vec2 dSTdy = dFdy( vBumpMapUv );
		float Hll = bumpScale * texture2D( bumpMap, vBumpMapUv ).x;
		float dBx = bumpScale * texture2D( bumpMap, vBumpMapUv + dSTdx ).x - Hll;
		float dBy = bumpScale * texture2D( bumpMap, vBumpMapUv + dSTdy ).x - Hll;
		return vec2( dBx, dBy );
	}
	vec3 perturbNormalArb( vec3 surf_pos, vec3 surf_norm, vec2 dHdxy, float faceDirection ) {
		vec3 vSigmaX = normalize( dFdx( surf_pos.xyz ) );
		vec3 vSigmaY = normalize( dFdy( surf_pos.xyz ) );
		vec3 vN = surf_norm;
		vec3 R1 = cross( vSigmaY, vN );
		vec3 R2 = cross( vN, vSigmaX );
		float fDet = dot( vSigmaX, R1 ) * faceDirection;
		vec3 vGrad = sign( fDet ) * ( dHdxy.x * R1 + dHdxy.y * R2 );
		return normalize( abs( fDet ) * surf_norm - vGrad );
	}
#endif`,Lb=`#if NUM_CLIPPING_PLANES > 0
	vec4 plane;
	#ifdef ALPHA_TO_COVERAGE
		float distanceToPlane, distanceGradient;
		float clipOpacity = 1.0;
		#pragma unroll_loop_start
		for ( int i = 0; i < UNION_CLIPPING_PLANES; i ++ ) {
			plane = clippingPlanes[ i ];
			distanceToPlane = - dot( vClipPosition, plane.xyz ) + plane.w;
			distanceGradient = fwidth( distanceToPlane ) / 2.0;
			clipOpacity *= smoothstep( - distanceGradient, distanceGradient, distanceToPlane );
			if ( clipOpacity == 0.0 ) discard;
		}
		#pragma unroll_loop_end
		#if UNION_CLIPPING_PLANES < NUM_CLIPPING_PLANES
			float unionClipOpacity = 1.0;
			#pragma unroll_loop_start
			for ( int i = UNION_CLIPPING_PLANES; i < NUM_CLIPPING_PLANES; i ++ ) {
				plane = clippingPlanes[ i ];
				distanceToPlane = - dot( vClipPosition, plane.xyz ) + plane.w;
				distanceGradient = fwidth( distanceToPlane ) / 2.0;
				unionClipOpacity *= 1.0 - smoothstep( - distanceGradient, distanceGradient, distanceToPlane );
			}
			#pragma unroll_loop_end
			clipOpacity *= 1.0 - unionClipOpacity;
		#endif
		diffuseColor.a *= clipOpacity;
		if ( diffuseColor.a == 0.0 ) discard;
	#else
		#pragma unroll_loop_start
		for ( int i = 0; i < UNION_CLIPPING_PLANES; i ++ ) {
			plane = clippingPlanes[ i ];
			if ( dot( vClipPosition, plane.xyz ) > plane.w ) discard;
		}
		#pragma unroll_loop_end
		#if UNION_CLIPPING_PLANES < NUM_CLIPPING_PLANES
			bool clipped = true;
			#pragma unroll_loop_start
			for ( int i = UNION_CLIPPING_PLANES; i < NUM_CLIPPING_PLANES; i ++ ) {
				plane = clippingPlanes[ i ];
				clipped = ( dot( vClipPosition, plane.xyz ) > plane.w ) && clipped;
			}
			#pragma unroll_loop_end
			if ( clipped ) discard;
		#endif
	#endif
#endif`,Db=`#if NUM_CLIPPING_PLANES > 0
	varying vec3 vClipPosition;
	uniform vec4 clippingPlanes[ NUM_CLIPPING_PLANES ];
#endif`,Fb=`#if NUM_CLIPPING_PLANES > 0
	varying vec3 vClipPosition;
#endif`,Nb=`#if NUM_CLIPPING_PLANES > 0
	vClipPosition = - mvPosition.xyz;
#endif`,Ub=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA )
	diffuseColor *= vColor;
#endif`,Ob=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA )
	varying vec4 vColor;
#endif`,Bb=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA ) || defined( USE_INSTANCING_COLOR ) || defined( USE_BATCHING_COLOR )
	varying vec4 vColor;
#endif`,kb=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA ) || defined( USE_INSTANCING_COLOR ) || defined( USE_BATCHING_COLOR )
	vColor = vec4( 1.0 );
#endif
#ifdef USE_COLOR_ALPHA
	vColor *= color;
#elif defined( USE_COLOR )
	vColor.rgb *= color;
#endif
#ifdef USE_INSTANCING_COLOR
	vColor.rgb *= instanceColor.rgb;
#endif
#ifdef USE_BATCHING_COLOR
	vColor *= getBatchingColor( getIndirectIndex( gl_DrawID ) );
#endif`,zb=`#define PI 3.141592653589793
#define PI2 6.283185307179586
#define PI_HALF 1.5707963267948966
#define RECIPROCAL_PI 0.3183098861837907
#define RECIPROCAL_PI2 0.15915494309189535
#define EPSILON 1e-6
#ifndef saturate
#define saturate( a ) clamp( a, 0.0, 1.0 )
#endif
#define whiteComplement( a ) ( 1.0 - saturate( a ) )
float pow2( const in float x ) { return x*x; }
vec3 pow2( const in vec3 x ) { return x*x; }
float pow3( const in float x ) { return x*x*x; }
float pow4( const in float x ) { float x2 = x*x; return x2*x2; }
float max3( const in vec3 v ) { return max( max( v.x, v.y ), v.z ); }
float average( const in vec3 v ) { return dot( v, vec3( 0.3333333 ) ); }
highp float rand( const in vec2 uv ) {
	const highp float a = 12.9898, b = 78.233, c = 43758.5453;
	highp float dt = dot( uv.xy, vec2( a,b ) ), sn = mod( dt, PI );
	return fract( sin( sn ) * c );
}
#ifdef HIGH_PRECISION
	float precisionSafeLength( vec3 v ) { return length( v ); }
#else
	float precisionSafeLength( vec3 v ) {
		float maxComponent = max3( abs( v ) );
		return length( v / maxComponent ) * maxComponent;
	}
#endif
struct IncidentLight {
	vec3 color;
	vec3 direction;
	bool visible;
};
struct ReflectedLight {
	vec3 directDiffuse;
	vec3 directSpecular;
	vec3 indirectDiffuse;
	vec3 indirectSpecular;
};
#ifdef USE_ALPHAHASH
	varying vec3 vPosition;
#endif
vec3 transformDirection( in vec3 dir, in mat4 matrix ) {
	return normalize( ( matrix * vec4( dir, 0.0 ) ).xyz );
}
#define inverseTransformDirection transformDirectionByInverseViewMatrix
vec3 transformNormalByInverseViewMatrix( in vec3 normal, in mat4 viewMatrix ) {
	return normalize( ( vec4( normal, 0.0 ) * viewMatrix ).xyz );
}
vec3 transformDirectionByInverseViewMatrix( in vec3 dir, in mat4 viewMatrix ) {
	return normalize( ( vec4( dir, 0.0 ) * viewMatrix ).xyz );
}
bool isPerspectiveMatrix( mat4 m ) {
	return m[ 2 ][ 3 ] == - 1.0;
}
vec2 equirectUv( in vec3 dir ) {
	float u = atan( dir.z, dir.x ) * RECIPROCAL_PI2 + 0.5;
	float v = asin( clamp( dir.y, - 1.0, 1.0 ) ) * RECIPROCAL_PI + 0.5;
	return vec2( u, v );
}
vec3 BRDF_Lambert( const in vec3 diffuseColor ) {
	return RECIPROCAL_PI * diffuseColor;
}
vec3 F_Schlick( const in vec3 f0, const in float f90, const in float dotVH ) {
	float fresnel = exp2( ( - 5.55473 * dotVH - 6.98316 ) * dotVH );
	return f0 * ( 1.0 - fresnel ) + ( f90 * fresnel );
}
float F_Schlick( const in float f0, const in float f90, const in float dotVH ) {
	float fresnel = exp2( ( - 5.55473 * dotVH - 6.98316 ) * dotVH );
	return f0 * ( 1.0 - fresnel ) + ( f90 * fresnel );
} // validated`,Gb=`vec3 transformedNormal = objectNormal;
#ifdef USE_TANGENT
	vec3 transformedTangent = objectTangent;
#endif
#ifdef USE_BATCHING
	mat3 bm = mat3( batchingMatrix );
	transformedNormal /= vec3( dot( bm[ 0 ], bm[ 0 ] ), dot( bm[ 1 ], bm[ 1 ] ), dot( bm[ 2 ], bm[ 2 ] ) );
	transformedNormal = bm * transformedNormal;
	#ifdef USE_TANGENT
		transformedTangent = bm * transformedTangent;
	#endif
#endif
#ifdef USE_INSTANCING
	mat3 im = mat3( instanceMatrix );
	transformedNormal /= vec3( dot( im[ 0 ], im[ 0 ] ), dot( im[ 1 ], im[ 1 ] ), dot( im[ 2 ], im[ 2 ] ) );
	transformedNormal = im * transformedNormal;
	#ifdef USE_TANGENT
		transformedTangent = im * transformedTangent;
	#endif
#endif
transformedNormal = normalMatrix * transformedNormal;
#ifdef FLIP_SIDED
	transformedNormal = - transformedNormal;
#endif
#ifdef USE_TANGENT
	transformedTangent = ( modelViewMatrix * vec4( transformedTangent, 0.0 ) ).xyz;
#endif`,Vb=`#ifdef USE_DISPLACEMENTMAP
	uniform sampler2D displacementMap;
	uniform float displacementScale;
	uniform float displacementBias;
#endif`,Hb=`#ifdef USE_DISPLACEMENTMAP
	transformed += normalize( objectNormal ) * ( texture2D( displacementMap, vDisplacementMapUv ).x * displacementScale + displacementBias );
#endif`,Wb=`#ifdef USE_EMISSIVEMAP
	vec4 emissiveColor = texture2D( emissiveMap, vEmissiveMapUv );
	#ifdef DECODE_VIDEO_TEXTURE_EMISSIVE
		emissiveColor = sRGBTransferEOTF( emissiveColor );
	#endif
	totalEmissiveRadiance *= emissiveColor.rgb;
#endif`,$b=`#ifdef USE_EMISSIVEMAP
	uniform sampler2D emissiveMap;
#endif`,Xb="gl_FragColor = linearToOutputTexel( gl_FragColor );",qb=`vec4 LinearTransferOETF( in vec4 value ) {
	return value;
}
vec4 sRGBTransferEOTF( in vec4 value ) {
	return vec4( mix( pow( value.rgb * 0.9478672986 + vec3( 0.0521327014 ), vec3( 2.4 ) ), value.rgb * 0.0773993808, vec3( lessThanEqual( value.rgb, vec3( 0.04045 ) ) ) ), value.a );
}
vec4 sRGBTransferOETF( in vec4 value ) {
	return vec4( mix( pow( value.rgb, vec3( 0.41666 ) ) * 1.055 - vec3( 0.055 ), value.rgb * 12.92, vec3( lessThanEqual( value.rgb, vec3( 0.0031308 ) ) ) ), value.a );
}`,jb=`#ifdef USE_ENVMAP
	#ifdef ENV_WORLDPOS
		vec3 cameraToFrag;
		if ( isOrthographic ) {
			cameraToFrag = normalize( vec3( - viewMatrix[ 0 ][ 2 ], - viewMatrix[ 1 ][ 2 ], - viewMatrix[ 2 ][ 2 ] ) );
		} else {
			cameraToFrag = normalize( vWorldPosition - cameraPosition );
		}
		vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
		#ifdef ENVMAP_MODE_REFLECTION
			vec3 reflectVec = reflect( cameraToFrag, worldNormal );
		#else
			vec3 reflectVec = refract( cameraToFrag, worldNormal, refractionRatio );
		#endif
	#else
		vec3 reflectVec = vReflect;
	#endif
	#ifdef ENVMAP_TYPE_CUBE
		vec4 envColor = textureCube( envMap, envMapRotation * reflectVec );
		#ifdef ENVMAP_BLENDING_MULTIPLY
			outgoingLight = mix( outgoingLight, outgoingLight * envColor.xyz, specularStrength * reflectivity );
		#elif defined( ENVMAP_BLENDING_MIX )
			outgoingLight = mix( outgoingLight, envColor.xyz, specularStrength * reflectivity );
		#elif defined( ENVMAP_BLENDING_ADD )
			outgoingLight += envColor.xyz * specularStrength * reflectivity;
		#endif
	#endif
#endif`,Yb=`#ifdef USE_ENVMAP
	uniform float envMapIntensity;
	uniform mat3 envMapRotation;
	uniform samplerCube envMap;
	#ifdef ENVMAP_TYPE_PMREM
		float roughnessToMip( const in float roughness ) {
			float r = clamp( roughness, 0.0, 1.0 );
			return ENVMAP_MAX_LOD * r * ( 2.0 - r );
		}
	#endif
#endif`,Jb=`#ifdef USE_ENVMAP
	uniform float reflectivity;
	#if defined( USE_BUMPMAP ) || defined( USE_NORMALMAP ) || defined( PHONG ) || defined( LAMBERT )
		#define ENV_WORLDPOS
	#endif
	#ifdef ENV_WORLDPOS
		varying vec3 vWorldPosition;
		uniform float refractionRatio;
	#else
		varying vec3 vReflect;
	#endif
#endif`,Zb=`#ifdef USE_ENVMAP
	#if defined( USE_BUMPMAP ) || defined( USE_NORMALMAP ) || defined( PHONG ) || defined( LAMBERT )
		#define ENV_WORLDPOS
	#endif
	#ifdef ENV_WORLDPOS
		
		varying vec3 vWorldPosition;
	#else
		varying vec3 vReflect;
		uniform float refractionRatio;
	#endif
#endif`,Kb=`#ifdef USE_ENVMAP
	#ifdef ENV_WORLDPOS
		vWorldPosition = worldPosition.xyz;
	#else
		vec3 cameraToVertex;
		if ( isOrthographic ) {
			cameraToVertex = normalize( vec3( - viewMatrix[ 0 ][ 2 ], - viewMatrix[ 1 ][ 2 ], - viewMatrix[ 2 ][ 2 ] ) );
		} else {
			cameraToVertex = normalize( worldPosition.xyz - cameraPosition );
		}
		vec3 worldNormal = transformNormalByInverseViewMatrix( transformedNormal, viewMatrix );
		#ifdef ENVMAP_MODE_REFLECTION
			vReflect = reflect( cameraToVertex, worldNormal );
		#else
			vReflect = refract( cameraToVertex, worldNormal, refractionRatio );
		#endif
	#endif
#endif`,Qb=`#ifdef USE_FOG
	vFogDepth = - mvPosition.z;
#endif`,eS=`#ifdef USE_FOG
	varying float vFogDepth;
#endif`,tS=`#ifdef USE_FOG
	#ifdef FOG_EXP2
		float fogFactor = 1.0 - exp( - fogDensity * fogDensity * vFogDepth * vFogDepth );
	#else
		float fogFactor = smoothstep( fogNear, fogFar, vFogDepth );
	#endif
	gl_FragColor.rgb = mix( gl_FragColor.rgb, fogColor, fogFactor );
#endif`,nS=`#ifdef USE_FOG
	uniform vec3 fogColor;
	varying float vFogDepth;
	#ifdef FOG_EXP2
		uniform float fogDensity;
	#else
		uniform float fogNear;
		uniform float fogFar;
	#endif
#endif`,iS=`#ifdef USE_GRADIENTMAP
	uniform sampler2D gradientMap;
#endif
vec3 getGradientIrradiance( vec3 normal, vec3 lightDirection ) {
	float dotNL = dot( normal, lightDirection );
	vec2 coord = vec2( dotNL * 0.5 + 0.5, 0.0 );
	#ifdef USE_GRADIENTMAP
		return vec3( texture2D( gradientMap, coord ).r );
	#else
		vec2 fw = fwidth( coord ) * 0.5;
		return mix( vec3( 0.7 ), vec3( 1.0 ), smoothstep( 0.7 - fw.x, 0.7 + fw.x, coord.x ) );
	#endif
}`,rS=`#ifdef USE_LIGHTMAP
	uniform sampler2D lightMap;
	uniform float lightMapIntensity;
#endif`,sS=`LambertMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.specularStrength = specularStrength;`,aS=`varying vec3 vViewPosition;
struct LambertMaterial {
	vec3 diffuseColor;
	float specularStrength;
};
void RE_Direct_Lambert( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in LambertMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
void RE_IndirectDiffuse_Lambert( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in LambertMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_Lambert
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Lambert`,oS=`uniform bool receiveShadow;
uniform vec3 ambientLightColor;
#if defined( USE_LIGHT_PROBES )
	uniform vec3 lightProbe[ 9 ];
#endif
vec3 shGetIrradianceAt( in vec3 normal, in vec3 shCoefficients[ 9 ] ) {
	float x = normal.x, y = normal.y, z = normal.z;
	vec3 result = shCoefficients[ 0 ] * 0.886227;
	result += shCoefficients[ 1 ] * 2.0 * 0.511664 * y;
	result += shCoefficients[ 2 ] * 2.0 * 0.511664 * z;
	result += shCoefficients[ 3 ] * 2.0 * 0.511664 * x;
	result += shCoefficients[ 4 ] * 2.0 * 0.429043 * x * y;
	result += shCoefficients[ 5 ] * 2.0 * 0.429043 * y * z;
	result += shCoefficients[ 6 ] * ( 0.743125 * z * z - 0.247708 );
	result += shCoefficients[ 7 ] * 2.0 * 0.429043 * x * z;
	result += shCoefficients[ 8 ] * 0.429043 * ( x * x - y * y );
	return result;
}
vec3 getLightProbeIrradiance( const in vec3 lightProbe[ 9 ], const in vec3 normal ) {
	vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
	vec3 irradiance = shGetIrradianceAt( worldNormal, lightProbe );
	return irradiance;
}
vec3 getAmbientLightIrradiance( const in vec3 ambientLightColor ) {
	vec3 irradiance = ambientLightColor;
	return irradiance;
}
float getDistanceAttenuation( const in float lightDistance, const in float cutoffDistance, const in float decayExponent ) {
	float distanceFalloff = 1.0 / max( pow( lightDistance, decayExponent ), 0.01 );
	if ( cutoffDistance > 0.0 ) {
		distanceFalloff *= pow2( saturate( 1.0 - pow4( lightDistance / cutoffDistance ) ) );
	}
	return distanceFalloff;
}
float getSpotAttenuation( const in float coneCosine, const in float penumbraCosine, const in float angleCosine ) {
	return smoothstep( coneCosine, penumbraCosine, angleCosine );
}
#if NUM_SUN_LIGHTS > 0
	struct SunLight {
		vec3 direction;
		vec3 color;
	};
	uniform SunLight sunLights[ NUM_SUN_LIGHTS ];
	void getSunLightInfo( const in SunLight sunLight, out IncidentLight light ) {
		light.color = sunLight.color;
		light.direction = sunLight.direction;
		light.visible = true;
	}
#endif
#if NUM_DIR_LIGHTS > 0
	struct DirectionalLight {
		vec3 direction;
		vec3 color;
	};
	uniform DirectionalLight directionalLights[ NUM_DIR_LIGHTS ];
	void getDirectionalLightInfo( const in DirectionalLight directionalLight, out IncidentLight light ) {
		light.color = directionalLight.color;
		light.direction = directionalLight.direction;
		light.visible = true;
	}
#endif
#if NUM_POINT_LIGHTS > 0
	struct PointLight {
		vec3 position;
		vec3 color;
		float distance;
		float decay;
	};
	uniform PointLight pointLights[ NUM_POINT_LIGHTS ];
	void getPointLightInfo( const in PointLight pointLight, const in vec3 geometryPosition, out IncidentLight light ) {
		vec3 lVector = pointLight.position - geometryPosition;
		light.direction = normalize( lVector );
		float lightDistance = length( lVector );
		light.color = pointLight.color;
		light.color *= getDistanceAttenuation( lightDistance, pointLight.distance, pointLight.decay );
		light.visible = ( light.color != vec3( 0.0 ) );
	}
#endif
#if NUM_SPOT_LIGHTS > 0
	struct SpotLight {
		vec3 position;
		vec3 direction;
		vec3 color;
		float distance;
		float decay;
		float coneCos;
		float penumbraCos;
	};
	uniform SpotLight spotLights[ NUM_SPOT_LIGHTS ];
	void getSpotLightInfo( const in SpotLight spotLight, const in vec3 geometryPosition, out IncidentLight light ) {
		vec3 lVector = spotLight.position - geometryPosition;
		light.direction = normalize( lVector );
		float angleCos = dot( light.direction, spotLight.direction );
		float spotAttenuation = getSpotAttenuation( spotLight.coneCos, spotLight.penumbraCos, angleCos );
		if ( spotAttenuation > 0.0 ) {
			float lightDistance = length( lVector );
			light.color = spotLight.color * spotAttenuation;
			light.color *= getDistanceAttenuation( lightDistance, spotLight.distance, spotLight.decay );
			light.visible = ( light.color != vec3( 0.0 ) );
		} else {
			light.color = vec3( 0.0 );
			light.visible = false;
		}
	}
#endif
#if NUM_RECT_AREA_LIGHTS > 0
	struct RectAreaLight {
		vec3 color;
		vec3 position;
		vec3 halfWidth;
		vec3 halfHeight;
	};
	uniform sampler2D ltc_1;	uniform sampler2D ltc_2;
	uniform RectAreaLight rectAreaLights[ NUM_RECT_AREA_LIGHTS ];
#endif
#if NUM_HEMI_LIGHTS > 0
	struct HemisphereLight {
		vec3 direction;
		vec3 skyColor;
		vec3 groundColor;
	};
	uniform HemisphereLight hemisphereLights[ NUM_HEMI_LIGHTS ];
	vec3 getHemisphereLightIrradiance( const in HemisphereLight hemiLight, const in vec3 normal ) {
		float dotNL = dot( normal, hemiLight.direction );
		float hemiDiffuseWeight = 0.5 * dotNL + 0.5;
		vec3 irradiance = mix( hemiLight.groundColor, hemiLight.skyColor, hemiDiffuseWeight );
		return irradiance;
	}
#endif
#include <lightprobes_pars_fragment>`,lS=`#ifdef USE_ENVMAP
	vec3 getIBLIrradiance( const in vec3 normal ) {
		#ifdef ENVMAP_TYPE_PMREM
			vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
			vec4 envMapColor = textureLod( envMap, envMapRotation * worldNormal, ENVMAP_MAX_LOD );
			return PI * envMapColor.rgb * envMapIntensity;
		#else
			return vec3( 0.0 );
		#endif
	}
	vec3 getIBLRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness ) {
		#ifdef ENVMAP_TYPE_PMREM
			vec3 reflectVec = reflect( - viewDir, normal );
			reflectVec = normalize( mix( reflectVec, normal, pow4( roughness ) ) );
			reflectVec = transformDirectionByInverseViewMatrix( reflectVec, viewMatrix );
			vec4 envMapColor = textureLod( envMap, envMapRotation * reflectVec, roughnessToMip( roughness ) );
			return envMapColor.rgb * envMapIntensity;
		#else
			return vec3( 0.0 );
		#endif
	}
	#ifdef USE_RETROREFLECTION
		vec3 getIBLRetroRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness ) {
			#ifdef ENVMAP_TYPE_PMREM
				vec3 retroVec = normalize( mix( viewDir, normal, pow4( roughness ) ) );
				retroVec = transformDirectionByInverseViewMatrix( retroVec, viewMatrix );
				vec4 envMapColor = textureLod( envMap, envMapRotation * retroVec, roughnessToMip( roughness ) );
				return envMapColor.rgb * envMapIntensity;
			#else
				return vec3( 0.0 );
			#endif
		}
	#endif
	#ifdef USE_ANISOTROPY
		vec3 getIBLAnisotropyRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness, const in vec3 bitangent, const in float anisotropy ) {
			#ifdef ENVMAP_TYPE_PMREM
				vec3 bentNormal = cross( bitangent, viewDir );
				bentNormal = normalize( cross( bentNormal, bitangent ) );
				bentNormal = normalize( mix( bentNormal, normal, pow2( pow2( 1.0 - anisotropy * ( 1.0 - roughness ) ) ) ) );
				return getIBLRadiance( viewDir, bentNormal, roughness );
			#else
				return vec3( 0.0 );
			#endif
		}
		#ifdef USE_RETROREFLECTION
			vec3 getIBLAnisotropyRetroRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness, const in vec3 bitangent, const in float anisotropy ) {
				#ifdef ENVMAP_TYPE_PMREM
					vec3 bentNormal = cross( bitangent, viewDir );
					bentNormal = normalize( cross( bentNormal, bitangent ) );
					bentNormal = normalize( mix( bentNormal, normal, pow2( pow2( 1.0 - anisotropy * ( 1.0 - roughness ) ) ) ) );
					return getIBLRetroRadiance( viewDir, bentNormal, roughness );
				#else
					return vec3( 0.0 );
				#endif
			}
		#endif
	#endif
#endif`,cS=`ToonMaterial material;
material.diffuseColor = diffuseColor.rgb;`,uS=`varying vec3 vViewPosition;
struct ToonMaterial {
	vec3 diffuseColor;
};
void RE_Direct_Toon( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in ToonMaterial material, inout ReflectedLight reflectedLight ) {
	vec3 irradiance = getGradientIrradiance( geometryNormal, directLight.direction ) * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
void RE_IndirectDiffuse_Toon( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in ToonMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_Toon
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Toon`,hS=`BlinnPhongMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.specularColor = specular;
material.specularShininess = shininess;
material.specularStrength = specularStrength;`,dS=`varying vec3 vViewPosition;
struct BlinnPhongMaterial {
	vec3 diffuseColor;
	vec3 specularColor;
	float specularShininess;
	float specularStrength;
};
void RE_Direct_BlinnPhong( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in BlinnPhongMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
	reflectedLight.directSpecular += irradiance * BRDF_BlinnPhong( directLight.direction, geometryViewDir, geometryNormal, material.specularColor, material.specularShininess ) * material.specularStrength;
}
void RE_IndirectDiffuse_BlinnPhong( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in BlinnPhongMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_BlinnPhong
#define RE_IndirectDiffuse		RE_IndirectDiffuse_BlinnPhong`,fS=`PhysicalMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.diffuseContribution = diffuseColor.rgb * ( 1.0 - metalnessFactor );
material.metalness = metalnessFactor;
vec3 dxy = max( abs( dFdx( nonPerturbedNormal ) ), abs( dFdy( nonPerturbedNormal ) ) );
float geometryRoughness = max( max( dxy.x, dxy.y ), dxy.z );
material.roughness = max( roughnessFactor, 0.045 );
material.roughness += geometryRoughness;
material.roughness = min( material.roughness, 1.0 );
#ifdef USE_DIFFUSE_ROUGHNESS
	float diffuseRoughnessFactor = diffuseRoughness;
	#ifdef USE_DIFFUSE_ROUGHNESSMAP
		diffuseRoughnessFactor *= texture2D( diffuseRoughnessMap, vDiffuseRoughnessMapUv ).r;
	#endif
	material.diffuseRoughness = saturate( diffuseRoughnessFactor );
#endif
#ifdef IOR
	material.ior = ior;
	#ifdef USE_SPECULAR
		float specularIntensityFactor = specularIntensity;
		vec3 specularColorFactor = specularColor;
		#ifdef USE_SPECULAR_COLORMAP
			specularColorFactor *= texture2D( specularColorMap, vSpecularColorMapUv ).rgb;
		#endif
		#ifdef USE_SPECULAR_INTENSITYMAP
			specularIntensityFactor *= texture2D( specularIntensityMap, vSpecularIntensityMapUv ).a;
		#endif
		material.specularF90 = mix( specularIntensityFactor, 1.0, metalnessFactor );
	#else
		float specularIntensityFactor = 1.0;
		vec3 specularColorFactor = vec3( 1.0 );
		material.specularF90 = 1.0;
	#endif
	material.specularColor = min( pow2( ( material.ior - 1.0 ) / ( material.ior + 1.0 ) ) * specularColorFactor, vec3( 1.0 ) ) * specularIntensityFactor;
	material.specularColorBlended = mix( material.specularColor, diffuseColor.rgb, metalnessFactor );
#else
	material.specularColor = vec3( 0.04 );
	material.specularColorBlended = mix( material.specularColor, diffuseColor.rgb, metalnessFactor );
	material.specularF90 = 1.0;
#endif
#ifdef USE_CLEARCOAT
	material.clearcoat = clearcoat;
	material.clearcoatRoughness = clearcoatRoughness;
	material.clearcoatF0 = vec3( 0.04 );
	material.clearcoatF90 = 1.0;
	#ifdef USE_CLEARCOATMAP
		material.clearcoat *= texture2D( clearcoatMap, vClearcoatMapUv ).x;
	#endif
	#ifdef USE_CLEARCOAT_ROUGHNESSMAP
		material.clearcoatRoughness *= texture2D( clearcoatRoughnessMap, vClearcoatRoughnessMapUv ).y;
	#endif
	material.clearcoat = saturate( material.clearcoat );	material.clearcoatRoughness = max( material.clearcoatRoughness, 0.045 );
	material.clearcoatRoughness += geometryRoughness;
	material.clearcoatRoughness = min( material.clearcoatRoughness, 1.0 );
#endif
#ifdef USE_DISPERSION
	material.dispersion = dispersion;
#endif
#ifdef USE_RETROREFLECTION
	material.retroreflectivity = retroreflectivity;
#endif
#ifdef USE_IRIDESCENCE
	material.iridescence = iridescence;
	material.iridescenceIOR = iridescenceIOR;
	#ifdef USE_IRIDESCENCEMAP
		material.iridescence *= texture2D( iridescenceMap, vIridescenceMapUv ).r;
	#endif
	#ifdef USE_IRIDESCENCE_THICKNESSMAP
		material.iridescenceThickness = (iridescenceThicknessMaximum - iridescenceThicknessMinimum) * texture2D( iridescenceThicknessMap, vIridescenceThicknessMapUv ).g + iridescenceThicknessMinimum;
	#else
		material.iridescenceThickness = iridescenceThicknessMaximum;
	#endif
#endif
#ifdef USE_SHEEN
	material.sheenColor = sheenColor;
	#ifdef USE_SHEEN_COLORMAP
		material.sheenColor *= texture2D( sheenColorMap, vSheenColorMapUv ).rgb;
	#endif
	material.sheenRoughness = clamp( sheenRoughness, 0.0001, 1.0 );
	#ifdef USE_SHEEN_ROUGHNESSMAP
		material.sheenRoughness *= texture2D( sheenRoughnessMap, vSheenRoughnessMapUv ).a;
	#endif
#endif
#ifdef USE_ANISOTROPY
	#ifdef USE_ANISOTROPYMAP
		mat2 anisotropyMat = mat2( anisotropyVector.x, anisotropyVector.y, - anisotropyVector.y, anisotropyVector.x );
		vec3 anisotropyPolar = texture2D( anisotropyMap, vAnisotropyMapUv ).rgb;
		vec2 anisotropyV = anisotropyMat * normalize( 2.0 * anisotropyPolar.rg - vec2( 1.0 ) ) * anisotropyPolar.b;
	#else
		vec2 anisotropyV = anisotropyVector;
	#endif
	material.anisotropy = length( anisotropyV );
	if( material.anisotropy == 0.0 ) {
		anisotropyV = vec2( 1.0, 0.0 );
	} else {
		anisotropyV /= material.anisotropy;
		material.anisotropy = saturate( material.anisotropy );
	}
	material.alphaT = mix( pow2( material.roughness ), 1.0, pow2( material.anisotropy ) );
	material.anisotropyT = tbn[ 0 ] * anisotropyV.x + tbn[ 1 ] * anisotropyV.y;
	material.anisotropyB = tbn[ 1 ] * anisotropyV.x - tbn[ 0 ] * anisotropyV.y;
#endif`,pS=`uniform sampler2D dfgLUT;
struct PhysicalMaterial {
	vec3 diffuseColor;
	vec3 diffuseContribution;
	vec3 specularColor;
	vec3 specularColorBlended;
	float roughness;
	float metalness;
	float specularF90;
	float dispersion;
	vec2 dfg;
	vec3 multiScatteringCompensation;
	#ifdef USE_DIFFUSE_ROUGHNESS
		float diffuseRoughness;
	#endif
	#ifdef USE_RETROREFLECTION
		float retroreflectivity;
	#endif
	#ifdef USE_CLEARCOAT
		float clearcoat;
		float clearcoatRoughness;
		vec3 clearcoatF0;
		float clearcoatF90;
	#endif
	#ifdef USE_IRIDESCENCE
		float iridescence;
		float iridescenceIOR;
		float iridescenceThickness;
		vec3 iridescenceFresnel;
		vec3 iridescenceF0Dielectric;
		vec3 iridescenceF0Metallic;
	#endif
	#ifdef USE_SHEEN
		vec3 sheenColor;
		float sheenRoughness;
	#endif
	#ifdef IOR
		float ior;
	#endif
	#ifdef USE_TRANSMISSION
		float transmission;
		float transmissionAlpha;
		float thickness;
		float attenuationDistance;
		vec3 attenuationColor;
	#endif
	#ifdef USE_ANISOTROPY
		float anisotropy;
		float alphaT;
		vec3 anisotropyT;
		vec3 anisotropyB;
	#endif
};
vec3 clearcoatSpecularDirect = vec3( 0.0 );
vec3 clearcoatSpecularIndirect = vec3( 0.0 );
vec3 sheenSpecularDirect = vec3( 0.0 );
vec3 sheenSpecularIndirect = vec3(0.0 );
vec3 Schlick_to_F0( const in vec3 f, const in float f90, const in float dotVH ) {
    float x = clamp( 1.0 - dotVH, 0.0, 1.0 );
    float x2 = x * x;
    float x5 = clamp( x * x2 * x2, 0.0, 0.9999 );
    return ( f - vec3( f90 ) * x5 ) / ( 1.0 - x5 );
}
#ifdef USE_DIFFUSE_ROUGHNESS
	const float EON_EPSILON = 1e-7;
	float FON_DirectionalAlbedo( const in float mu, const in float roughness, const in float A ) {
		float muComp = 1.0 - mu;
		float gOverPi = muComp * ( 0.0571085289 + muComp * ( 0.491881867 + muComp * ( - 0.332181442 + muComp * 0.0714429953 ) ) );
		return A * ( 1.0 + roughness * gOverPi );
	}
	vec3 BRDF_EON( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in vec3 diffuseColor, const in float roughness ) {
		vec3 rho = saturate( diffuseColor );
		if ( roughness <= EON_EPSILON ) return BRDF_Lambert( rho );
		float dotNL = saturate( dot( normal, lightDir ) );
		float dotNV = saturate( dot( normal, viewDir ) );
		float s = dot( lightDir, viewDir ) - dotNL * dotNV;
		float sOverT = ( s > 0.0 ) ? s / max( max( dotNL, dotNV ), EON_EPSILON ) : s;
		float A = 1.0 / ( 1.0 + ( 0.5 - 2.0 / ( 3.0 * PI ) ) * roughness );
		vec3 singleScatter = rho * RECIPROCAL_PI * A * ( 1.0 + roughness * sOverT );
		float averageAlbedo = A * ( 1.0 + ( 2.0 / 3.0 - 28.0 / ( 15.0 * PI ) ) * roughness );
		float albedoV = FON_DirectionalAlbedo( dotNV, roughness, A );
		float albedoL = FON_DirectionalAlbedo( dotNL, roughness, A );
		vec3 rhoMultiScatter = rho * rho * averageAlbedo / max( vec3( EON_EPSILON ), vec3( 1.0 ) - rho * ( 1.0 - averageAlbedo ) );
		vec3 multiScatter = rhoMultiScatter * RECIPROCAL_PI
			* max( EON_EPSILON, 1.0 - albedoV )
			* max( EON_EPSILON, 1.0 - albedoL )
			/ max( EON_EPSILON, 1.0 - averageAlbedo );
		return singleScatter + multiScatter;
	}
	vec3 EON_DirectionalAlbedo( const in vec3 diffuseColor, const in float roughness, const in float dotNV ) {
		vec3 rho = saturate( diffuseColor );
		if ( roughness <= EON_EPSILON ) return rho;
		float A = 1.0 / ( 1.0 + ( 0.5 - 2.0 / ( 3.0 * PI ) ) * roughness );
		float directionalAlbedo = FON_DirectionalAlbedo( dotNV, roughness, A );
		float averageAlbedo = A * ( 1.0 + ( 2.0 / 3.0 - 28.0 / ( 15.0 * PI ) ) * roughness );
		vec3 rhoMultiScatter = rho * rho * averageAlbedo / max( vec3( EON_EPSILON ), vec3( 1.0 ) - rho * ( 1.0 - averageAlbedo ) );
		return rho * directionalAlbedo + rhoMultiScatter * ( 1.0 - directionalAlbedo );
	}
#endif
float V_GGX_SmithCorrelated( const in float alpha, const in float dotNL, const in float dotNV ) {
	float a2 = pow2( alpha );
	float gv = dotNL * sqrt( a2 + ( 1.0 - a2 ) * pow2( dotNV ) );
	float gl = dotNV * sqrt( a2 + ( 1.0 - a2 ) * pow2( dotNL ) );
	return 0.5 / max( gv + gl, EPSILON );
}
float D_GGX( const in float alpha, const in float dotNH ) {
	float a2 = pow2( alpha );
	float denom = pow2( dotNH ) * ( a2 - 1.0 ) + 1.0;
	return RECIPROCAL_PI * a2 / pow2( denom );
}
#ifdef USE_ANISOTROPY
	float V_GGX_SmithCorrelated_Anisotropic( const in float alphaT, const in float alphaB, const in float dotTV, const in float dotBV, const in float dotTL, const in float dotBL, const in float dotNV, const in float dotNL ) {
		float gv = dotNL * length( vec3( alphaT * dotTV, alphaB * dotBV, dotNV ) );
		float gl = dotNV * length( vec3( alphaT * dotTL, alphaB * dotBL, dotNL ) );
		return 0.5 / max( gv + gl, EPSILON );
	}
	float D_GGX_Anisotropic( const in float alphaT, const in float alphaB, const in float dotNH, const in float dotTH, const in float dotBH ) {
		float a2 = alphaT * alphaB;
		highp vec3 v = vec3( alphaB * dotTH, alphaT * dotBH, a2 * dotNH );
		highp float v2 = dot( v, v );
		float w2 = a2 / v2;
		return RECIPROCAL_PI * a2 * pow2 ( w2 );
	}
#endif
#ifdef USE_CLEARCOAT
	vec3 BRDF_GGX_Clearcoat( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in PhysicalMaterial material) {
		vec3 f0 = material.clearcoatF0;
		float f90 = material.clearcoatF90;
		float roughness = max( material.clearcoatRoughness, 0.045 );
		float alpha = pow2( roughness );
		vec3 halfDir = normalize( lightDir + viewDir );
		float dotNL = saturate( dot( normal, lightDir ) );
		float dotNV = saturate( dot( normal, viewDir ) );
		float dotNH = saturate( dot( normal, halfDir ) );
		float dotVH = saturate( dot( viewDir, halfDir ) );
		vec3 F = F_Schlick( f0, f90, dotVH );
		float V = V_GGX_SmithCorrelated( alpha, dotNL, dotNV );
		float D = D_GGX( alpha, dotNH );
		return F * ( V * D );
	}
#endif
vec3 BRDF_GGX( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in PhysicalMaterial material ) {
	vec3 f0 = material.specularColorBlended;
	float f90 = material.specularF90;
	float roughness = max( material.roughness, 0.045 );
	float alpha = pow2( roughness );
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNL = saturate( dot( normal, lightDir ) );
	float dotNV = saturate( dot( normal, viewDir ) );
	float dotNH = saturate( dot( normal, halfDir ) );
	float dotVH = saturate( dot( viewDir, halfDir ) );
	vec3 F = F_Schlick( f0, f90, dotVH );
	#ifdef USE_IRIDESCENCE
		F = mix( F, material.iridescenceFresnel, material.iridescence );
	#endif
	#ifdef USE_ANISOTROPY
		float dotTL = dot( material.anisotropyT, lightDir );
		float dotTV = dot( material.anisotropyT, viewDir );
		float dotTH = dot( material.anisotropyT, halfDir );
		float dotBL = dot( material.anisotropyB, lightDir );
		float dotBV = dot( material.anisotropyB, viewDir );
		float dotBH = dot( material.anisotropyB, halfDir );
		float alphaT = max( material.alphaT, alpha );
		float V = V_GGX_SmithCorrelated_Anisotropic( alphaT, alpha, dotTV, dotBV, dotTL, dotBL, dotNV, dotNL );
		float D = D_GGX_Anisotropic( alphaT, alpha, dotNH, dotTH, dotBH );
	#else
		float V = V_GGX_SmithCorrelated( alpha, dotNL, dotNV );
		float D = D_GGX( alpha, dotNH );
	#endif
	return F * ( V * D );
}
vec2 LTC_Uv( const in vec3 N, const in vec3 V, const in float roughness ) {
	const float LUT_SIZE = 64.0;
	const float LUT_SCALE = ( LUT_SIZE - 1.0 ) / LUT_SIZE;
	const float LUT_BIAS = 0.5 / LUT_SIZE;
	float dotNV = saturate( dot( N, V ) );
	vec2 uv = vec2( roughness, sqrt( 1.0 - dotNV ) );
	uv = uv * LUT_SCALE + LUT_BIAS;
	return uv;
}
float LTC_ClippedSphereFormFactor( const in vec3 f ) {
	float l = length( f );
	return max( ( l * l + f.z ) / ( l + 1.0 ), 0.0 );
}
vec3 LTC_EdgeVectorFormFactor( const in vec3 v1, const in vec3 v2 ) {
	float x = dot( v1, v2 );
	float y = abs( x );
	float a = 0.8543985 + ( 0.4965155 + 0.0145206 * y ) * y;
	float b = 3.4175940 + ( 4.1616724 + y ) * y;
	float v = a / b;
	float theta_sintheta = ( x > 0.0 ) ? v : 0.5 * inversesqrt( max( 1.0 - x * x, 1e-7 ) ) - v;
	return cross( v1, v2 ) * theta_sintheta;
}
vec3 LTC_Evaluate( const in vec3 N, const in vec3 V, const in vec3 P, const in mat3 mInv, const in vec3 rectCoords[ 4 ] ) {
	vec3 v1 = rectCoords[ 1 ] - rectCoords[ 0 ];
	vec3 v2 = rectCoords[ 3 ] - rectCoords[ 0 ];
	vec3 lightNormal = cross( v1, v2 );
	if( dot( lightNormal, P - rectCoords[ 0 ] ) < 0.0 ) return vec3( 0.0 );
	vec3 T1, T2;
	T1 = normalize( V - N * dot( V, N ) );
	T2 = - cross( N, T1 );
	mat3 mat = mInv * transpose( mat3( T1, T2, N ) );
	vec3 coords[ 4 ];
	coords[ 0 ] = mat * ( rectCoords[ 0 ] - P );
	coords[ 1 ] = mat * ( rectCoords[ 1 ] - P );
	coords[ 2 ] = mat * ( rectCoords[ 2 ] - P );
	coords[ 3 ] = mat * ( rectCoords[ 3 ] - P );
	coords[ 0 ] = normalize( coords[ 0 ] );
	coords[ 1 ] = normalize( coords[ 1 ] );
	coords[ 2 ] = normalize( coords[ 2 ] );
	coords[ 3 ] = normalize( coords[ 3 ] );
	vec3 vectorFormFactor = vec3( 0.0 );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 0 ], coords[ 1 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 1 ], coords[ 2 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 2 ], coords[ 3 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 3 ], coords[ 0 ] );
	float result = LTC_ClippedSphereFormFactor( vectorFormFactor );
	return vec3( result );
}
#if defined( USE_SHEEN )
float D_Charlie( float roughness, float dotNH ) {
	float alpha = pow2( roughness );
	float invAlpha = 1.0 / alpha;
	float cos2h = dotNH * dotNH;
	float sin2h = max( 1.0 - cos2h, 0.0078125 );
	return ( 2.0 + invAlpha ) * pow( sin2h, invAlpha * 0.5 ) / ( 2.0 * PI );
}
float V_Neubelt( float dotNV, float dotNL ) {
	return saturate( 1.0 / ( 4.0 * ( dotNL + dotNV - dotNL * dotNV ) ) );
}
vec3 BRDF_Sheen( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, vec3 sheenColor, const in float sheenRoughness ) {
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNL = saturate( dot( normal, lightDir ) );
	float dotNV = saturate( dot( normal, viewDir ) );
	float dotNH = saturate( dot( normal, halfDir ) );
	float D = D_Charlie( sheenRoughness, dotNH );
	float V = V_Neubelt( dotNV, dotNL );
	return sheenColor * ( D * V );
}
#endif
float IBLSheenBRDF( const in vec3 normal, const in vec3 viewDir, const in float roughness ) {
	float dotNV = saturate( dot( normal, viewDir ) );
	float r2 = roughness * roughness;
	float rInv = 1.0 / ( roughness + 0.1 );
	float a = -1.9362 + 1.0678 * roughness + 0.4573 * r2 - 0.8469 * rInv;
	float b = -0.6014 + 0.5538 * roughness - 0.4670 * r2 - 0.1255 * rInv;
	float DG = exp( a * dotNV + b );
	return saturate( DG );
}
vec3 EnvironmentBRDF( const in vec3 normal, const in vec3 viewDir, const in vec3 specularColor, const in float specularF90, const in float roughness ) {
	float dotNV = saturate( dot( normal, viewDir ) );
	vec2 fab = texture2D( dfgLUT, vec2( roughness, dotNV ) ).rg;
	return specularColor * fab.x + specularF90 * fab.y;
}
#ifdef USE_IRIDESCENCE
void computeMultiscatteringIridescence( const in vec2 fab, const in vec3 specularColor, const in float specularF90, const in float iridescence, const in vec3 iridescenceF0, inout vec3 singleScatter, inout vec3 multiScatter ) {
#else
void computeMultiscattering( const in vec2 fab, const in vec3 specularColor, const in float specularF90, inout vec3 singleScatter, inout vec3 multiScatter ) {
#endif
	#ifdef USE_IRIDESCENCE
		vec3 Fr = mix( specularColor, iridescenceF0, iridescence );
	#else
		vec3 Fr = specularColor;
	#endif
	vec3 FssEss = Fr * fab.x + specularF90 * fab.y;
	float Ess = fab.x + fab.y;
	float Ems = 1.0 - Ess;
	vec3 Favg = Fr + ( 1.0 - Fr ) * 0.047619;	vec3 Fms = FssEss * Favg / ( 1.0 - Ems * Favg );
	singleScatter += FssEss;
	multiScatter += Fms * Ems;
}
#if NUM_RECT_AREA_LIGHTS > 0
	void RE_Direct_RectArea_Physical( const in RectAreaLight rectAreaLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
		vec3 normal = geometryNormal;
		vec3 viewDir = geometryViewDir;
		vec3 position = geometryPosition;
		vec3 lightPos = rectAreaLight.position;
		vec3 halfWidth = rectAreaLight.halfWidth;
		vec3 halfHeight = rectAreaLight.halfHeight;
		vec3 lightColor = rectAreaLight.color;
		float roughness = material.roughness;
		vec3 rectCoords[ 4 ];
		rectCoords[ 0 ] = lightPos + halfWidth - halfHeight;		rectCoords[ 1 ] = lightPos - halfWidth - halfHeight;
		rectCoords[ 2 ] = lightPos - halfWidth + halfHeight;
		rectCoords[ 3 ] = lightPos + halfWidth + halfHeight;
		vec2 uv = LTC_Uv( normal, viewDir, roughness );
		vec4 t1 = texture2D( ltc_1, uv );
		vec4 t2 = texture2D( ltc_2, uv );
		mat3 mInv = mat3(
			vec3( t1.x, 0, t1.y ),
			vec3(    0, 1,    0 ),
			vec3( t1.z, 0, t1.w )
		);
		vec3 fresnel = ( material.specularColorBlended * t2.x + ( material.specularF90 - material.specularColorBlended ) * t2.y );
		reflectedLight.directSpecular += lightColor * fresnel * LTC_Evaluate( normal, viewDir, position, mInv, rectCoords );
		reflectedLight.directDiffuse += lightColor * material.diffuseContribution * LTC_Evaluate( normal, viewDir, position, mat3( 1.0 ), rectCoords );
		#ifdef USE_CLEARCOAT
			vec3 Ncc = geometryClearcoatNormal;
			vec2 uvClearcoat = LTC_Uv( Ncc, viewDir, material.clearcoatRoughness );
			vec4 t1Clearcoat = texture2D( ltc_1, uvClearcoat );
			vec4 t2Clearcoat = texture2D( ltc_2, uvClearcoat );
			mat3 mInvClearcoat = mat3(
				vec3( t1Clearcoat.x, 0, t1Clearcoat.y ),
				vec3(             0, 1,             0 ),
				vec3( t1Clearcoat.z, 0, t1Clearcoat.w )
			);
			vec3 fresnelClearcoat = material.clearcoatF0 * t2Clearcoat.x + ( material.clearcoatF90 - material.clearcoatF0 ) * t2Clearcoat.y;
			clearcoatSpecularDirect += lightColor * fresnelClearcoat * LTC_Evaluate( Ncc, viewDir, position, mInvClearcoat, rectCoords );
		#endif
	}
#endif
void RE_Direct_Physical( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	#ifdef USE_CLEARCOAT
		float dotNLcc = saturate( dot( geometryClearcoatNormal, directLight.direction ) );
		vec3 ccIrradiance = dotNLcc * directLight.color;
		clearcoatSpecularDirect += ccIrradiance * BRDF_GGX_Clearcoat( directLight.direction, geometryViewDir, geometryClearcoatNormal, material );
	#endif
	#ifdef USE_SHEEN
 
 		sheenSpecularDirect += irradiance * BRDF_Sheen( directLight.direction, geometryViewDir, geometryNormal, material.sheenColor, material.sheenRoughness );
 
 		float sheenAlbedoV = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
 		float sheenAlbedoL = IBLSheenBRDF( geometryNormal, directLight.direction, material.sheenRoughness );
 
 		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * max( sheenAlbedoV, sheenAlbedoL );
 
 		irradiance *= sheenEnergyComp;
 
 	#endif
	vec3 specularBRDF = BRDF_GGX( directLight.direction, geometryViewDir, geometryNormal, material );
	#ifdef USE_RETROREFLECTION
		vec3 retroViewDir = reflect( - geometryViewDir, geometryNormal );
		vec3 retroSpecularBRDF = BRDF_GGX( directLight.direction, retroViewDir, geometryNormal, material );
		specularBRDF = mix( specularBRDF, retroSpecularBRDF, saturate( material.retroreflectivity ) );
	#endif
	reflectedLight.directSpecular += irradiance * specularBRDF * material.multiScatteringCompensation;
	vec3 halfDir = normalize( directLight.direction + geometryViewDir );
	float dotVH = saturate( dot( geometryViewDir, halfDir ) );
	vec3 F = F_Schlick( material.specularColor, material.specularF90, dotVH );
	#ifdef USE_RETROREFLECTION
		vec3 retroHalfDir = normalize( directLight.direction + retroViewDir );
		float dotRetroVH = saturate( dot( retroViewDir, retroHalfDir ) );
		vec3 retroF = F_Schlick( material.specularColor, material.specularF90, dotRetroVH );
		F = mix( F, retroF, saturate( material.retroreflectivity ) );
	#endif
	#ifdef USE_DIFFUSE_ROUGHNESS
		vec3 diffuseBRDF = BRDF_EON( directLight.direction, geometryViewDir, geometryNormal, material.diffuseColor, material.diffuseRoughness ) * ( 1.0 - material.metalness );
	#else
		vec3 diffuseBRDF = BRDF_Lambert( material.diffuseContribution );
	#endif
	reflectedLight.directDiffuse += irradiance * diffuseBRDF * ( 1.0 - F );
}
void RE_IndirectDiffuse_Physical( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
	vec3 singleScattering = vec3( 0.0 );
	vec3 multiScattering = vec3( 0.0 );
	#ifdef USE_IRIDESCENCE
		computeMultiscatteringIridescence( material.dfg, material.specularColor, material.specularF90, material.iridescence, material.iridescenceF0Dielectric, singleScattering, multiScattering );
	#else
		computeMultiscattering( material.dfg, material.specularColor, material.specularF90, singleScattering, multiScattering );
	#endif
	#ifdef USE_DIFFUSE_ROUGHNESS
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		vec3 diffuseAlbedo = EON_DirectionalAlbedo( material.diffuseColor, material.diffuseRoughness, dotNV ) * ( 1.0 - material.metalness );
		vec3 diffuse = irradiance * RECIPROCAL_PI * diffuseAlbedo * ( 1.0 - singleScattering - multiScattering );
	#else
		vec3 diffuse = irradiance * BRDF_Lambert( material.diffuseContribution ) * ( 1.0 - singleScattering - multiScattering );
	#endif
	#ifdef USE_SHEEN
		float sheenAlbedo = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
		sheenSpecularIndirect += irradiance * material.sheenColor * sheenAlbedo * RECIPROCAL_PI;
		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * sheenAlbedo;
		diffuse *= sheenEnergyComp;
	#endif
	reflectedLight.indirectDiffuse += diffuse;
}
void RE_IndirectSpecular_Physical( const in vec3 radiance, const in vec3 irradiance, const in vec3 clearcoatRadiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight) {
	#ifdef USE_CLEARCOAT
		clearcoatSpecularIndirect += clearcoatRadiance * EnvironmentBRDF( geometryClearcoatNormal, geometryViewDir, material.clearcoatF0, material.clearcoatF90, material.clearcoatRoughness );
	#endif
	#ifdef USE_SHEEN
		sheenSpecularIndirect += irradiance * material.sheenColor * IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness ) * RECIPROCAL_PI;
 	#endif
	vec3 singleScatteringDielectric = vec3( 0.0 );
	vec3 multiScatteringDielectric = vec3( 0.0 );
	vec3 singleScatteringMetallic = vec3( 0.0 );
	vec3 multiScatteringMetallic = vec3( 0.0 );
	#ifdef USE_IRIDESCENCE
		computeMultiscatteringIridescence( material.dfg, material.specularColor, material.specularF90, material.iridescence, material.iridescenceF0Dielectric, singleScatteringDielectric, multiScatteringDielectric );
		computeMultiscatteringIridescence( material.dfg, material.diffuseColor, material.specularF90, material.iridescence, material.iridescenceF0Metallic, singleScatteringMetallic, multiScatteringMetallic );
	#else
		computeMultiscattering( material.dfg, material.specularColor, material.specularF90, singleScatteringDielectric, multiScatteringDielectric );
		computeMultiscattering( material.dfg, material.diffuseColor, material.specularF90, singleScatteringMetallic, multiScatteringMetallic );
	#endif
	vec3 singleScattering = mix( singleScatteringDielectric, singleScatteringMetallic, material.metalness );
	vec3 multiScattering = mix( multiScatteringDielectric, multiScatteringMetallic, material.metalness );
	vec3 totalScatteringDielectric = singleScatteringDielectric + multiScatteringDielectric;
	#ifdef USE_DIFFUSE_ROUGHNESS
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		vec3 diffuse = EON_DirectionalAlbedo( material.diffuseColor, material.diffuseRoughness, dotNV ) * ( 1.0 - material.metalness ) * ( 1.0 - totalScatteringDielectric );
	#else
		vec3 diffuse = material.diffuseContribution * ( 1.0 - totalScatteringDielectric );
	#endif
	vec3 cosineWeightedIrradiance = irradiance * RECIPROCAL_PI;
	vec3 indirectSpecular = radiance * singleScattering;
	indirectSpecular += multiScattering * cosineWeightedIrradiance;
	vec3 indirectDiffuse = diffuse * cosineWeightedIrradiance;
	#ifdef USE_SHEEN
		float sheenAlbedo = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * sheenAlbedo;
		indirectSpecular *= sheenEnergyComp;
		indirectDiffuse *= sheenEnergyComp;
	#endif
	reflectedLight.indirectSpecular += indirectSpecular;
	reflectedLight.indirectDiffuse += indirectDiffuse;
}
#define RE_Direct				RE_Direct_Physical
#define RE_Direct_RectArea		RE_Direct_RectArea_Physical
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Physical
#define RE_IndirectSpecular		RE_IndirectSpecular_Physical
float computeSpecularOcclusion( const in float dotNV, const in float ambientOcclusion, const in float roughness ) {
	return saturate( pow( dotNV + ambientOcclusion, exp2( - 16.0 * roughness - 1.0 ) ) - 1.0 + ambientOcclusion );
}`,mS=`
vec3 geometryPosition = - vViewPosition;
vec3 geometryNormal = normal;
vec3 geometryViewDir = ( isOrthographic ) ? vec3( 0, 0, 1 ) : normalize( vViewPosition );
vec3 geometryClearcoatNormal = vec3( 0.0 );
#ifdef USE_CLEARCOAT
	geometryClearcoatNormal = clearcoatNormal;
#endif
#ifdef USE_IRIDESCENCE
	float dotNVi = saturate( dot( normal, geometryViewDir ) );
	if ( material.iridescenceThickness == 0.0 ) {
		material.iridescence = 0.0;
	} else {
		material.iridescence = saturate( material.iridescence );
	}
	if ( material.iridescence > 0.0 ) {
		vec3 iridescenceFresnelDielectric = evalIridescence( 1.0, material.iridescenceIOR, dotNVi, material.iridescenceThickness, material.specularColor );
		vec3 iridescenceFresnelMetallic = evalIridescence( 1.0, material.iridescenceIOR, dotNVi, material.iridescenceThickness, material.diffuseColor );
		material.iridescenceFresnel = mix( iridescenceFresnelDielectric, iridescenceFresnelMetallic, material.metalness );
		material.iridescenceF0Dielectric = Schlick_to_F0( iridescenceFresnelDielectric, 1.0, dotNVi );
		material.iridescenceF0Metallic = Schlick_to_F0( iridescenceFresnelMetallic, 1.0, dotNVi );
	}
#endif
#ifdef STANDARD
	float dotNVms = saturate( dot( geometryNormal, geometryViewDir ) );
	material.dfg = texture2D( dfgLUT, vec2( material.roughness, dotNVms ) ).rg;
	#if ( NUM_SUN_LIGHTS > 0 || NUM_DIR_LIGHTS > 0 || NUM_POINT_LIGHTS > 0 || NUM_SPOT_LIGHTS > 0 )
		float EssMs = material.dfg.x + material.dfg.y;
		material.multiScatteringCompensation = 1.0 + material.specularColorBlended * ( 1.0 / EssMs - 1.0 );
	#endif
#endif
IncidentLight directLight;
#if ( NUM_POINT_LIGHTS > 0 ) && defined( RE_Direct )
	PointLight pointLight;
	#if defined( USE_SHADOWMAP ) && NUM_POINT_LIGHT_SHADOWS > 0
	PointLightShadow pointLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_POINT_LIGHTS; i ++ ) {
		pointLight = pointLights[ i ];
		getPointLightInfo( pointLight, geometryPosition, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_POINT_LIGHT_SHADOWS ) && ( defined( SHADOWMAP_TYPE_PCF ) || defined( SHADOWMAP_TYPE_BASIC ) )
		pointLightShadow = pointLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getPointShadow( pointShadowMap[ i ], pointLightShadow.shadowMapSize, pointLightShadow.shadowIntensity, pointLightShadow.shadowBias, pointLightShadow.shadowRadius, vPointShadowCoord[ i ], pointLightShadow.shadowCameraNear, pointLightShadow.shadowCameraFar ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_SPOT_LIGHTS > 0 ) && defined( RE_Direct )
	SpotLight spotLight;
	vec4 spotColor;
	vec3 spotLightCoord;
	bool inSpotLightMap;
	#if defined( USE_SHADOWMAP ) && NUM_SPOT_LIGHT_SHADOWS > 0
	SpotLightShadow spotLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHTS; i ++ ) {
		spotLight = spotLights[ i ];
		getSpotLightInfo( spotLight, geometryPosition, directLight );
		#if ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS )
		#define SPOT_LIGHT_MAP_INDEX UNROLLED_LOOP_INDEX
		#elif ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
		#define SPOT_LIGHT_MAP_INDEX NUM_SPOT_LIGHT_MAPS
		#else
		#define SPOT_LIGHT_MAP_INDEX ( UNROLLED_LOOP_INDEX - NUM_SPOT_LIGHT_SHADOWS + NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS )
		#endif
		#if ( SPOT_LIGHT_MAP_INDEX < NUM_SPOT_LIGHT_MAPS )
			spotLightCoord = vSpotLightCoord[ i ].xyz / vSpotLightCoord[ i ].w;
			inSpotLightMap = all( lessThan( abs( spotLightCoord * 2. - 1. ), vec3( 1.0 ) ) );
			spotColor = texture2D( spotLightMap[ SPOT_LIGHT_MAP_INDEX ], spotLightCoord.xy );
			directLight.color = inSpotLightMap ? directLight.color * spotColor.rgb : directLight.color;
		#endif
		#undef SPOT_LIGHT_MAP_INDEX
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
		spotLightShadow = spotLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getShadow( spotShadowMap[ i ], spotLightShadow.shadowMapSize, spotLightShadow.shadowIntensity, spotLightShadow.shadowBias, spotLightShadow.shadowRadius, vSpotLightCoord[ i ] ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_SUN_LIGHTS > 0 ) && defined( RE_Direct )
	SunLight sunLight;
	#if defined( USE_SHADOWMAP ) && NUM_SUN_LIGHT_SHADOWS > 0
	SunLightShadow sunLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SUN_LIGHTS; i ++ ) {
		sunLight = sunLights[ i ];
		getSunLightInfo( sunLight, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_SUN_LIGHT_SHADOWS )
		sunLightShadow = sunLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getSunShadow( sunShadowMap[ i ], sunLightShadow, UNROLLED_LOOP_INDEX ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_DIR_LIGHTS > 0 ) && defined( RE_Direct )
	DirectionalLight directionalLight;
	#if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
	DirectionalLightShadow directionalLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_DIR_LIGHTS; i ++ ) {
		directionalLight = directionalLights[ i ];
		getDirectionalLightInfo( directionalLight, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_DIR_LIGHT_SHADOWS )
		directionalLightShadow = directionalLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getShadow( directionalShadowMap[ i ], directionalLightShadow.shadowMapSize, directionalLightShadow.shadowIntensity, directionalLightShadow.shadowBias, directionalLightShadow.shadowRadius, vDirectionalShadowCoord[ i ] ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_RECT_AREA_LIGHTS > 0 ) && defined( RE_Direct_RectArea )
	RectAreaLight rectAreaLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_RECT_AREA_LIGHTS; i ++ ) {
		rectAreaLight = rectAreaLights[ i ];
		RE_Direct_RectArea( rectAreaLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if defined( RE_IndirectDiffuse )
	vec3 iblIrradiance = vec3( 0.0 );
	vec3 irradiance = getAmbientLightIrradiance( ambientLightColor );
	#if defined( USE_LIGHT_PROBES )
		irradiance += getLightProbeIrradiance( lightProbe, geometryNormal );
	#endif
	#if ( NUM_HEMI_LIGHTS > 0 )
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_HEMI_LIGHTS; i ++ ) {
			irradiance += getHemisphereLightIrradiance( hemisphereLights[ i ], geometryNormal );
		}
		#pragma unroll_loop_end
	#endif
	#if NUM_LIGHT_PROBE_GRIDS > 0
		vec3 probeWorldPos = ( ( vec4( geometryPosition, 1.0 ) - viewMatrix[ 3 ] ) * viewMatrix ).xyz;
		vec3 probeWorldNormal = transformNormalByInverseViewMatrix( geometryNormal, viewMatrix );
		int probeGrid = - 1;
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_LIGHT_PROBE_GRIDS; i ++ ) {
			if ( isInsideLightProbeGrid( probeWorldPos, probeWorldNormal, probesMin[ i ], probesMax[ i ], probesResolution[ i ] ) ) probeGrid = UNROLLED_LOOP_INDEX;
		}
		#pragma unroll_loop_end
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_LIGHT_PROBE_GRIDS; i ++ ) {
			if ( probeGrid == UNROLLED_LOOP_INDEX ) irradiance += getLightProbeGridIrradiance( probesSH[ i ], probesMin[ i ], probesMax[ i ], probesResolution[ i ], probeWorldPos, probeWorldNormal );
		}
		#pragma unroll_loop_end
	#endif
#endif
#if defined( RE_IndirectSpecular )
	vec3 radiance = vec3( 0.0 );
	vec3 clearcoatRadiance = vec3( 0.0 );
#endif`,gS=`#if defined( RE_IndirectDiffuse )
	#ifdef USE_LIGHTMAP
		vec4 lightMapTexel = texture2D( lightMap, vLightMapUv );
		vec3 lightMapIrradiance = lightMapTexel.rgb * lightMapIntensity;
		irradiance += lightMapIrradiance;
	#endif
	#if defined( USE_ENVMAP ) && defined( ENVMAP_TYPE_PMREM )
		#if defined( STANDARD ) || defined( LAMBERT ) || defined( PHONG )
			iblIrradiance += getIBLIrradiance( geometryNormal );
		#endif
	#endif
#endif
#if defined( USE_ENVMAP ) && defined( RE_IndirectSpecular )
	#ifdef USE_ANISOTROPY
		vec3 iblRadiance = getIBLAnisotropyRadiance( geometryViewDir, geometryNormal, material.roughness, material.anisotropyB, material.anisotropy );
	#else
		vec3 iblRadiance = getIBLRadiance( geometryViewDir, geometryNormal, material.roughness );
	#endif
	#ifdef USE_RETROREFLECTION
		#ifdef USE_ANISOTROPY
			vec3 retroIBLRadiance = getIBLAnisotropyRetroRadiance( geometryViewDir, geometryNormal, material.roughness, material.anisotropyB, material.anisotropy );
		#else
			vec3 retroIBLRadiance = getIBLRetroRadiance( geometryViewDir, geometryNormal, material.roughness );
		#endif
		iblRadiance = mix( iblRadiance, retroIBLRadiance, saturate( material.retroreflectivity ) );
	#endif
	radiance += iblRadiance;
	#ifdef USE_CLEARCOAT
		clearcoatRadiance += getIBLRadiance( geometryViewDir, geometryClearcoatNormal, material.clearcoatRoughness );
	#endif
#endif`,_S=`#if defined( RE_IndirectDiffuse )
	#if defined( LAMBERT ) || defined( PHONG )
		irradiance += iblIrradiance;
	#endif
	RE_IndirectDiffuse( irradiance, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
#endif
#if defined( RE_IndirectSpecular )
	RE_IndirectSpecular( radiance, iblIrradiance, clearcoatRadiance, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
#endif`,vS=`#if NUM_LIGHT_PROBE_GRIDS > 0
uniform highp sampler3D probesSH[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesMin[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesMax[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesResolution[ NUM_LIGHT_PROBE_GRIDS ];
bool isInsideLightProbeGrid( vec3 worldPos, vec3 worldNormal, vec3 probesMin, vec3 probesMax, vec3 probesResolution ) {
	vec3 spacing = ( probesMax - probesMin ) / probesResolution;
	vec3 samplePos = worldPos + worldNormal * spacing * 0.5;
	vec3 margin = spacing * 0.01;
	return all( greaterThanEqual( samplePos, probesMin - margin ) ) && all( lessThanEqual( samplePos, probesMax + margin ) );
}
vec3 getLightProbeGridIrradiance( highp sampler3D probesSH, vec3 probesMin, vec3 probesMax, vec3 probesResolution, vec3 worldPos, vec3 worldNormal ) {
	vec3 res = probesResolution;
	vec3 gridRange = probesMax - probesMin;
	vec3 probeSpacing = gridRange / res;
	vec3 samplePos = worldPos + worldNormal * probeSpacing * 0.5;
	vec3 uvw = clamp( ( samplePos - probesMin ) / gridRange, 0.5 / res, 1.0 - 0.5 / res );
	float nz          = res.z;
	float paddedSlices = nz + 2.0;
	float atlasDepth  = 7.0 * paddedSlices;
	float uvZBase     = uvw.z * nz + 1.0;
	vec4 s0 = texture( probesSH, vec3( uvw.xy, ( uvZBase                       ) / atlasDepth ) );
	vec4 s1 = texture( probesSH, vec3( uvw.xy, ( uvZBase +       paddedSlices   ) / atlasDepth ) );
	vec4 s2 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 2.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s3 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 3.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s4 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 4.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s5 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 5.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s6 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 6.0 * paddedSlices   ) / atlasDepth ) );
	vec3 c0 = s0.xyz;
	vec3 c1 = vec3( s0.w, s1.xy );
	vec3 c2 = vec3( s1.zw, s2.x );
	vec3 c3 = s2.yzw;
	vec3 c4 = s3.xyz;
	vec3 c5 = vec3( s3.w, s4.xy );
	vec3 c6 = vec3( s4.zw, s5.x );
	vec3 c7 = s5.yzw;
	vec3 c8 = s6.xyz;
	float x = worldNormal.x, y = worldNormal.y, z = worldNormal.z;
	vec3 result = c0 * 0.886227;
	result += c1 * 2.0 * 0.511664 * y;
	result += c2 * 2.0 * 0.511664 * z;
	result += c3 * 2.0 * 0.511664 * x;
	result += c4 * 2.0 * 0.429043 * x * y;
	result += c5 * 2.0 * 0.429043 * y * z;
	result += c6 * ( 0.743125 * z * z - 0.247708 );
	result += c7 * 2.0 * 0.429043 * x * z;
	result += c8 * 0.429043 * ( x * x - y * y );
	return max( result, vec3( 0.0 ) );
}
#endif`,yS=`#if defined( USE_LOGARITHMIC_DEPTH_BUFFER )
	gl_FragDepth = vIsPerspective == 0.0 ? gl_FragCoord.z : log2( vFragDepth ) * logDepthBufFC * 0.5;
#endif`,xS=`#if defined( USE_LOGARITHMIC_DEPTH_BUFFER )
	uniform float logDepthBufFC;
	varying float vFragDepth;
	varying float vIsPerspective;
#endif`,bS=`#ifdef USE_LOGARITHMIC_DEPTH_BUFFER
	varying float vFragDepth;
	varying float vIsPerspective;
#endif`,SS=`#ifdef USE_LOGARITHMIC_DEPTH_BUFFER
	vFragDepth = 1.0 + gl_Position.w;
	vIsPerspective = float( isPerspectiveMatrix( projectionMatrix ) );
#endif`,wS=`#ifdef USE_MAP
	vec4 sampledDiffuseColor = texture2D( map, vMapUv );
	#ifdef DECODE_VIDEO_TEXTURE
		sampledDiffuseColor = sRGBTransferEOTF( sampledDiffuseColor );
	#endif
	diffuseColor *= sampledDiffuseColor;
#endif`,MS=`#ifdef USE_MAP
	uniform sampler2D map;
#endif`,ES=`#if defined( USE_MAP ) || defined( USE_ALPHAMAP )
	#if defined( USE_POINTS_UV )
		vec2 uv = vUv;
	#else
		vec2 uv = ( uvTransform * vec3( gl_PointCoord.x, 1.0 - gl_PointCoord.y, 1 ) ).xy;
	#endif
#endif
#ifdef USE_MAP
	diffuseColor *= texture2D( map, uv );
#endif
#ifdef USE_ALPHAMAP
	diffuseColor.a *= texture2D( alphaMap, uv ).g;
#endif`,TS=`#if defined( USE_POINTS_UV )
	varying vec2 vUv;
#else
	#if defined( USE_MAP ) || defined( USE_ALPHAMAP )
		uniform mat3 uvTransform;
	#endif
#endif
#ifdef USE_MAP
	uniform sampler2D map;
#endif
#ifdef USE_ALPHAMAP
	uniform sampler2D alphaMap;
#endif`,AS=`float metalnessFactor = metalness;
#ifdef USE_METALNESSMAP
	vec4 texelMetalness = texture2D( metalnessMap, vMetalnessMapUv );
	metalnessFactor *= texelMetalness.b;
#endif`,RS=`#ifdef USE_METALNESSMAP
	uniform sampler2D metalnessMap;
#endif`,CS=`#ifdef USE_INSTANCING_MORPH
	float morphTargetInfluences[ MORPHTARGETS_COUNT ];
	float morphTargetBaseInfluence = texelFetch( morphTexture, ivec2( 0, gl_InstanceID ), 0 ).r;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		morphTargetInfluences[i] =  texelFetch( morphTexture, ivec2( i + 1, gl_InstanceID ), 0 ).r;
	}
#endif`,PS=`#if defined( USE_MORPHCOLORS )
	#if defined( USE_COLOR_ALPHA )
		vColor *= morphTargetBaseInfluence;
	#elif defined( USE_COLOR )
		vColor.rgb *= morphTargetBaseInfluence;
	#endif
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		#if defined( USE_COLOR_ALPHA )
			if ( morphTargetInfluences[ i ] != 0.0 ) vColor += getMorph( gl_VertexID, i, 2 ) * morphTargetInfluences[ i ];
		#elif defined( USE_COLOR )
			if ( morphTargetInfluences[ i ] != 0.0 ) vColor.rgb += getMorph( gl_VertexID, i, 2 ).rgb * morphTargetInfluences[ i ];
		#endif
	}
#endif`,IS=`#ifdef USE_MORPHNORMALS
	objectNormal *= morphTargetBaseInfluence;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		if ( morphTargetInfluences[ i ] != 0.0 ) objectNormal += getMorph( gl_VertexID, i, 1 ).xyz * morphTargetInfluences[ i ];
	}
#endif`,LS=`#ifdef USE_MORPHTARGETS
	#ifndef USE_INSTANCING_MORPH
		uniform float morphTargetBaseInfluence;
		uniform float morphTargetInfluences[ MORPHTARGETS_COUNT ];
	#endif
	uniform sampler2DArray morphTargetsTexture;
	uniform ivec2 morphTargetsTextureSize;
	vec4 getMorph( const in int vertexIndex, const in int morphTargetIndex, const in int offset ) {
		int texelIndex = vertexIndex * MORPHTARGETS_TEXTURE_STRIDE + offset;
		int y = texelIndex / morphTargetsTextureSize.x;
		int x = texelIndex - y * morphTargetsTextureSize.x;
		ivec3 morphUV = ivec3( x, y, morphTargetIndex );
		return texelFetch( morphTargetsTexture, morphUV, 0 );
	}
#endif`,DS=`#ifdef USE_MORPHTARGETS
	transformed *= morphTargetBaseInfluence;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		if ( morphTargetInfluences[ i ] != 0.0 ) transformed += getMorph( gl_VertexID, i, 0 ).xyz * morphTargetInfluences[ i ];
	}
#endif`,FS=`float faceDirection = gl_FrontFacing ? 1.0 : - 1.0;
#ifdef FLAT_SHADED
	vec3 fdx = dFdx( vViewPosition );
	vec3 fdy = dFdy( vViewPosition );
	vec3 normal = normalize( cross( fdx, fdy ) );
#else
	vec3 normal = normalize( vNormal );
	#ifdef DOUBLE_SIDED
		normal *= faceDirection;
	#endif
#endif
#if defined( USE_NORMALMAP_TANGENTSPACE ) || defined( USE_CLEARCOAT_NORMALMAP ) || defined( USE_ANISOTROPY )
	#ifdef USE_TANGENT
		mat3 tbn = mat3( normalize( vTangent ), normalize( vBitangent ), normal );
	#else
		mat3 tbn = getTangentFrame( - vViewPosition, normal,
		#if defined( USE_NORMALMAP )
			vNormalMapUv
		#elif defined( USE_CLEARCOAT_NORMALMAP )
			vClearcoatNormalMapUv
		#else
			vUv
		#endif
		);
	#endif
	#ifdef DOUBLE_SIDED
		tbn[0] *= faceDirection;
		tbn[1] *= faceDirection;
	#endif
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	#ifdef USE_TANGENT
		mat3 tbn2 = mat3( normalize( vTangent ), normalize( vBitangent ), normal );
	#else
		mat3 tbn2 = getTangentFrame( - vViewPosition, normal, vClearcoatNormalMapUv );
	#endif
	#ifdef DOUBLE_SIDED
		tbn2[0] *= faceDirection;
		tbn2[1] *= faceDirection;
	#endif
#endif
vec3 nonPerturbedNormal = normal;`,NS=`#ifdef USE_NORMALMAP_OBJECTSPACE
	normal = texture2D( normalMap, vNormalMapUv ).xyz * 2.0 - 1.0;
	#ifdef FLIP_SIDED
		normal = - normal;
	#endif
	#ifdef DOUBLE_SIDED
		normal = normal * faceDirection;
	#endif
	normal = normalize( normalMatrix * normal );
#elif defined( USE_NORMALMAP_TANGENTSPACE )
	vec3 mapN = texture2D( normalMap, vNormalMapUv ).xyz * 2.0 - 1.0;
	#if defined( USE_PACKED_NORMALMAP )
		mapN = vec3( mapN.xy, sqrt( saturate( 1.0 - dot( mapN.xy, mapN.xy ) ) ) );
	#endif
	mapN.xy *= normalScale;
	normal = normalize( tbn * mapN );
#elif defined( USE_BUMPMAP )
	normal = perturbNormalArb( - vViewPosition, normal, dHdxy_fwd(), faceDirection );
#endif`,US=`#ifndef FLAT_SHADED
	varying vec3 vNormal;
	#ifdef USE_TANGENT
		varying vec3 vTangent;
		varying vec3 vBitangent;
	#endif
#endif`,OS=`#ifndef FLAT_SHADED
	varying vec3 vNormal;
	#ifdef USE_TANGENT
		varying vec3 vTangent;
		varying vec3 vBitangent;
	#endif
#endif`,BS=`#ifndef FLAT_SHADED
	vNormal = normalize( transformedNormal );
	#ifdef USE_TANGENT
		vTangent = normalize( transformedTangent );
		vBitangent = normalize( cross( vNormal, vTangent ) * tangent.w );
		#ifdef FLIP_SIDED
			vBitangent = - vBitangent;
		#endif
	#endif
#endif`,kS=`#ifdef USE_NORMALMAP
	uniform sampler2D normalMap;
	uniform vec2 normalScale;
#endif
#ifdef USE_NORMALMAP_OBJECTSPACE
	uniform mat3 normalMatrix;
#endif
#if ! defined ( USE_TANGENT ) && ( defined ( USE_NORMALMAP_TANGENTSPACE ) || defined ( USE_CLEARCOAT_NORMALMAP ) || defined( USE_ANISOTROPY ) )
	mat3 getTangentFrame( vec3 eye_pos, vec3 surf_norm, vec2 uv ) {
		vec3 q0 = dFdx( eye_pos.xyz );
		vec3 q1 = dFdy( eye_pos.xyz );
		vec2 st0 = dFdx( uv.st );
		vec2 st1 = dFdy( uv.st );
		vec3 N = surf_norm;
		vec3 q1perp = cross( q1, N );
		vec3 q0perp = cross( N, q0 );
		vec3 T = q1perp * st0.x + q0perp * st1.x;
		vec3 B = q1perp * st0.y + q0perp * st1.y;
		float det = max( dot( T, T ), dot( B, B ) );
		float scale = ( det == 0.0 ) ? 0.0 : inversesqrt( det );
		return mat3( T * scale, B * scale, N );
	}
#endif`,zS=`#ifdef USE_CLEARCOAT
	vec3 clearcoatNormal = nonPerturbedNormal;
#endif`,GS=`#ifdef USE_CLEARCOAT_NORMALMAP
	vec3 clearcoatMapN = texture2D( clearcoatNormalMap, vClearcoatNormalMapUv ).xyz * 2.0 - 1.0;
	clearcoatMapN.xy *= clearcoatNormalScale;
	clearcoatNormal = normalize( tbn2 * clearcoatMapN );
#endif`,VS=`#ifdef USE_CLEARCOATMAP
	uniform sampler2D clearcoatMap;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	uniform sampler2D clearcoatNormalMap;
	uniform vec2 clearcoatNormalScale;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	uniform sampler2D clearcoatRoughnessMap;
#endif`,HS=`#ifdef USE_IRIDESCENCEMAP
	uniform sampler2D iridescenceMap;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	uniform sampler2D iridescenceThicknessMap;
#endif`,WS=`#ifdef OPAQUE
diffuseColor.a = 1.0;
#endif
#ifdef USE_TRANSMISSION
diffuseColor.a *= material.transmissionAlpha;
#endif
gl_FragColor = vec4( outgoingLight, diffuseColor.a );`,$S=`vec3 packNormalToRGB( const in vec3 normal ) {
	return normalize( normal ) * 0.5 + 0.5;
}
vec3 unpackRGBToNormal( const in vec3 rgb ) {
	return 2.0 * rgb.xyz - 1.0;
}
const float PackUpscale = 256. / 255.;const float UnpackDownscale = 255. / 256.;const float ShiftRight8 = 1. / 256.;
const float Inv255 = 1. / 255.;
const vec4 PackFactors = vec4( 1.0, 256.0, 256.0 * 256.0, 256.0 * 256.0 * 256.0 );
const vec2 UnpackFactors2 = vec2( UnpackDownscale, 1.0 / PackFactors.g );
const vec3 UnpackFactors3 = vec3( UnpackDownscale / PackFactors.rg, 1.0 / PackFactors.b );
const vec4 UnpackFactors4 = vec4( UnpackDownscale / PackFactors.rgb, 1.0 / PackFactors.a );
vec4 packDepthToRGBA( const in float v ) {
	if( v <= 0.0 )
		return vec4( 0., 0., 0., 0. );
	if( v >= 1.0 )
		return vec4( 1., 1., 1., 1. );
	float vuf;
	float af = modf( v * PackFactors.a, vuf );
	float bf = modf( vuf * ShiftRight8, vuf );
	float gf = modf( vuf * ShiftRight8, vuf );
	return vec4( vuf * Inv255, gf * PackUpscale, bf * PackUpscale, af );
}
vec3 packDepthToRGB( const in float v ) {
	if( v <= 0.0 )
		return vec3( 0., 0., 0. );
	if( v >= 1.0 )
		return vec3( 1., 1., 1. );
	float vuf;
	float bf = modf( v * PackFactors.b, vuf );
	float gf = modf( vuf * ShiftRight8, vuf );
	return vec3( vuf * Inv255, gf * PackUpscale, bf );
}
vec2 packDepthToRG( const in float v ) {
	if( v <= 0.0 )
		return vec2( 0., 0. );
	if( v >= 1.0 )
		return vec2( 1., 1. );
	float vuf;
	float gf = modf( v * 256., vuf );
	return vec2( vuf * Inv255, gf );
}
float unpackRGBAToDepth( const in vec4 v ) {
	return dot( v, UnpackFactors4 );
}
float unpackRGBToDepth( const in vec3 v ) {
	return dot( v, UnpackFactors3 );
}
float unpackRGToDepth( const in vec2 v ) {
	return v.r * UnpackFactors2.r + v.g * UnpackFactors2.g;
}
vec4 pack2HalfToRGBA( const in vec2 v ) {
	vec4 r = vec4( v.x, fract( v.x * 255.0 ), v.y, fract( v.y * 255.0 ) );
	return vec4( r.x - r.y / 255.0, r.y, r.z - r.w / 255.0, r.w );
}
vec2 unpackRGBATo2Half( const in vec4 v ) {
	return vec2( v.x + ( v.y / 255.0 ), v.z + ( v.w / 255.0 ) );
}
float viewZToOrthographicDepth( const in float viewZ, const in float near, const in float far ) {
	return ( viewZ + near ) / ( near - far );
}
float orthographicDepthToViewZ( const in float depth, const in float near, const in float far ) {
	#ifdef USE_REVERSED_DEPTH_BUFFER
	
		return depth * ( far - near ) - far;
	#else
		return depth * ( near - far ) - near;
	#endif
}
float viewZToPerspectiveDepth( const in float viewZ, const in float near, const in float far ) {
	return ( ( near + viewZ ) * far ) / ( ( far - near ) * viewZ );
}
float perspectiveDepthToViewZ( const in float depth, const in float near, const in float far ) {
	
	#ifdef USE_REVERSED_DEPTH_BUFFER
		return ( near * far ) / ( ( near - far ) * depth - near );
	#else
		return ( near * far ) / ( ( far - near ) * depth - far );
	#endif
}`,XS=`#ifdef PREMULTIPLIED_ALPHA
	gl_FragColor.rgb *= gl_FragColor.a;
#endif`,qS=`vec4 mvPosition = vec4( transformed, 1.0 );
#ifdef USE_BATCHING
	mvPosition = batchingMatrix * mvPosition;
#endif
#ifdef USE_INSTANCING
	mvPosition = instanceMatrix * mvPosition;
#endif
mvPosition = modelViewMatrix * mvPosition;
gl_Position = projectionMatrix * mvPosition;`,jS=`#ifdef DITHERING
	gl_FragColor.rgb = dithering( gl_FragColor.rgb );
#endif`,YS=`#ifdef DITHERING
	vec3 dithering( vec3 color ) {
		float grid_position = rand( gl_FragCoord.xy );
		vec3 dither_shift_RGB = vec3( 0.25 / 255.0, -0.25 / 255.0, 0.25 / 255.0 );
		dither_shift_RGB = mix( 2.0 * dither_shift_RGB, -2.0 * dither_shift_RGB, grid_position );
		return color + dither_shift_RGB;
	}
#endif`,JS=`float roughnessFactor = roughness;
#ifdef USE_ROUGHNESSMAP
	vec4 texelRoughness = texture2D( roughnessMap, vRoughnessMapUv );
	roughnessFactor *= texelRoughness.g;
#endif`,ZS=`#ifdef USE_ROUGHNESSMAP
	uniform sampler2D roughnessMap;
#endif`,KS=`#if NUM_SPOT_LIGHT_COORDS > 0
	varying vec4 vSpotLightCoord[ NUM_SPOT_LIGHT_COORDS ];
#endif
#if NUM_SPOT_LIGHT_MAPS > 0
	uniform sampler2D spotLightMap[ NUM_SPOT_LIGHT_MAPS ];
#endif
#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
		#define SUN_LIGHT_CASCADES 2
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow sunShadowMap[ NUM_SUN_LIGHT_SHADOWS ];
		#else
			uniform sampler2D sunShadowMap[ NUM_SUN_LIGHT_SHADOWS ];
		#endif
		uniform mat4 sunShadowMatrix[ NUM_SUN_LIGHT_SHADOWS * SUN_LIGHT_CASCADES ];
		uniform vec4 sunShadowCascade[ NUM_SUN_LIGHT_SHADOWS * SUN_LIGHT_CASCADES ];
		varying vec4 vSunShadowWorldPosition;
		varying vec3 vSunShadowWorldNormal;
		struct SunLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SunLightShadow sunLightShadows[ NUM_SUN_LIGHT_SHADOWS ];
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow directionalShadowMap[ NUM_DIR_LIGHT_SHADOWS ];
		#else
			uniform sampler2D directionalShadowMap[ NUM_DIR_LIGHT_SHADOWS ];
		#endif
		varying vec4 vDirectionalShadowCoord[ NUM_DIR_LIGHT_SHADOWS ];
		struct DirectionalLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform DirectionalLightShadow directionalLightShadows[ NUM_DIR_LIGHT_SHADOWS ];
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow spotShadowMap[ NUM_SPOT_LIGHT_SHADOWS ];
		#else
			uniform sampler2D spotShadowMap[ NUM_SPOT_LIGHT_SHADOWS ];
		#endif
		struct SpotLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SpotLightShadow spotLightShadows[ NUM_SPOT_LIGHT_SHADOWS ];
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform samplerCubeShadow pointShadowMap[ NUM_POINT_LIGHT_SHADOWS ];
		#elif defined( SHADOWMAP_TYPE_BASIC )
			uniform samplerCube pointShadowMap[ NUM_POINT_LIGHT_SHADOWS ];
		#endif
		varying vec4 vPointShadowCoord[ NUM_POINT_LIGHT_SHADOWS ];
		struct PointLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
			float shadowCameraNear;
			float shadowCameraFar;
		};
		uniform PointLightShadow pointLightShadows[ NUM_POINT_LIGHT_SHADOWS ];
	#endif
	#if defined( SHADOWMAP_TYPE_PCF )
		float interleavedGradientNoise( vec2 position ) {
			return fract( 52.9829189 * fract( dot( position, vec2( 0.06711056, 0.00583715 ) ) ) );
		}
		vec2 vogelDiskSample( int sampleIndex, int samplesCount, float phi ) {
			const float goldenAngle = 2.399963229728653;
			float r = sqrt( ( float( sampleIndex ) + 0.5 ) / float( samplesCount ) );
			float theta = float( sampleIndex ) * goldenAngle + phi;
			return vec2( cos( theta ), sin( theta ) ) * r;
		}
	#endif
	#if defined( SHADOWMAP_TYPE_PCF )
		float getShadow( sampler2DShadow shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				vec2 texelSize = vec2( 1.0 ) / shadowMapSize;
				vec2 radius = shadowRadius * texelSize;
				float phi = interleavedGradientNoise( gl_FragCoord.xy ) * PI2;
				shadow = (
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 0, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 1, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 2, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 3, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 4, 5, phi ) * radius, shadowCoord.z ) )
				) * 0.2;
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#elif defined( SHADOWMAP_TYPE_VSM )
		float getShadow( sampler2D shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				vec2 distribution = texture2D( shadowMap, shadowCoord.xy ).rg;
				float mean = distribution.x;
				float variance = distribution.y * distribution.y;
				#ifdef USE_REVERSED_DEPTH_BUFFER
					float hard_shadow = step( mean, shadowCoord.z );
				#else
					float hard_shadow = step( shadowCoord.z, mean );
				#endif
				
				if ( hard_shadow == 1.0 ) {
					shadow = 1.0;
				} else {
					variance = max( variance, 0.0000001 );
					float d = shadowCoord.z - mean;
					float p_max = variance / ( variance + d * d );
					p_max = clamp( ( p_max - 0.3 ) / 0.65, 0.0, 1.0 );
					shadow = max( hard_shadow, p_max );
				}
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#else
		float getShadow( sampler2D shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				float depth = texture2D( shadowMap, shadowCoord.xy ).r;
				#ifdef USE_REVERSED_DEPTH_BUFFER
					shadow = step( depth, shadowCoord.z );
				#else
					shadow = step( shadowCoord.z, depth );
				#endif
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#endif
	#if NUM_SUN_LIGHT_SHADOWS > 0
		float getSunShadow(
			#if defined( SHADOWMAP_TYPE_PCF )
				sampler2DShadow shadowMap,
			#else
				sampler2D shadowMap,
			#endif
			SunLightShadow sunLightShadow,
			int shadowIndex
		) {
			vec4 shadowWorldPosition = vec4( vSunShadowWorldPosition.xyz + vSunShadowWorldNormal * sunLightShadow.shadowNormalBias, 1.0 );
			float viewDepth = vSunShadowWorldPosition.w;
			int cascadeOffset = shadowIndex * SUN_LIGHT_CASCADES;
			float shadow = 1.0;
			for ( int i = SUN_LIGHT_CASCADES - 1; i >= 0; i -- ) {
				vec4 cascade = sunShadowCascade[ cascadeOffset + i ];
				if ( viewDepth >= cascade.x && viewDepth < cascade.y ) {
					float cascadeShadow = getShadow(
						shadowMap,
						sunLightShadow.shadowMapSize,
						sunLightShadow.shadowIntensity,
						sunLightShadow.shadowBias,
						sunLightShadow.shadowRadius,
						sunShadowMatrix[ cascadeOffset + i ] * shadowWorldPosition
					);
					shadow = mix( cascadeShadow, shadow, smoothstep( cascade.z, cascade.y, viewDepth ) );
				}
			}
			return shadow;
		}
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
	#if defined( SHADOWMAP_TYPE_PCF )
	float getPointShadow( samplerCubeShadow shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord, float shadowCameraNear, float shadowCameraFar ) {
		float shadow = 1.0;
		vec3 lightToPosition = shadowCoord.xyz;
		vec3 bd3D = normalize( lightToPosition );
		vec3 absVec = abs( lightToPosition );
		float viewSpaceZ = max( max( absVec.x, absVec.y ), absVec.z );
		if ( viewSpaceZ - shadowCameraFar <= 0.0 && viewSpaceZ - shadowCameraNear >= 0.0 ) {
			float lightDistance = length( lightToPosition );
			float depthRange = shadowCameraFar - shadowCameraNear;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				float depthA = - shadowCameraNear / depthRange - shadowBias;
				float depthB = shadowCameraNear * shadowCameraFar / ( depthRange * lightDistance );
			#else
				float depthA = shadowCameraFar / depthRange + shadowBias;
				float depthB = - shadowCameraNear * shadowCameraFar / ( depthRange * lightDistance );
			#endif
			float texelSize = shadowRadius / shadowMapSize.x;
			vec3 absDir = abs( bd3D );
			vec3 tangent = absDir.x > absDir.z ? vec3( 0.0, 1.0, 0.0 ) : vec3( 1.0, 0.0, 0.0 );
			tangent = normalize( cross( bd3D, tangent ) );
			vec3 bitangent = cross( bd3D, tangent );
			float phi = interleavedGradientNoise( gl_FragCoord.xy ) * PI2;
			shadow = 0.0;
			for ( int i = 0; i < 5; i ++ ) {
				vec2 offset = vogelDiskSample( i, 5, phi );
				vec3 direction = bd3D + ( tangent * offset.x + bitangent * offset.y ) * texelSize;
				vec3 absDirection = abs( direction );
				float dp = depthA + depthB / max( max( absDirection.x, absDirection.y ), absDirection.z );
				shadow += texture( shadowMap, vec4( direction, dp ) );
			}
			shadow *= 0.2;
		}
		return mix( 1.0, shadow, shadowIntensity );
	}
	#elif defined( SHADOWMAP_TYPE_BASIC )
	float getPointShadow( samplerCube shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord, float shadowCameraNear, float shadowCameraFar ) {
		float shadow = 1.0;
		vec3 lightToPosition = shadowCoord.xyz;
		vec3 absVec = abs( lightToPosition );
		float viewSpaceZ = max( max( absVec.x, absVec.y ), absVec.z );
		if ( viewSpaceZ - shadowCameraFar <= 0.0 && viewSpaceZ - shadowCameraNear >= 0.0 ) {
			float dp = ( shadowCameraFar * ( viewSpaceZ - shadowCameraNear ) ) / ( viewSpaceZ * ( shadowCameraFar - shadowCameraNear ) );
			dp += shadowBias;
			vec3 bd3D = normalize( lightToPosition );
			float depth = textureCube( shadowMap, bd3D ).r;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				depth = 1.0 - depth;
			#endif
			shadow = step( dp, depth );
		}
		return mix( 1.0, shadow, shadowIntensity );
	}
	#endif
	#endif
#endif`,QS=`#if NUM_SPOT_LIGHT_COORDS > 0
	uniform mat4 spotLightMatrix[ NUM_SPOT_LIGHT_COORDS ];
	varying vec4 vSpotLightCoord[ NUM_SPOT_LIGHT_COORDS ];
#endif
#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
		varying vec4 vSunShadowWorldPosition;
		varying vec3 vSunShadowWorldNormal;
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		uniform mat4 directionalShadowMatrix[ NUM_DIR_LIGHT_SHADOWS ];
		varying vec4 vDirectionalShadowCoord[ NUM_DIR_LIGHT_SHADOWS ];
		struct DirectionalLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform DirectionalLightShadow directionalLightShadows[ NUM_DIR_LIGHT_SHADOWS ];
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
		struct SpotLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SpotLightShadow spotLightShadows[ NUM_SPOT_LIGHT_SHADOWS ];
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		uniform mat4 pointShadowMatrix[ NUM_POINT_LIGHT_SHADOWS ];
		varying vec4 vPointShadowCoord[ NUM_POINT_LIGHT_SHADOWS ];
		struct PointLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
			float shadowCameraNear;
			float shadowCameraFar;
		};
		uniform PointLightShadow pointLightShadows[ NUM_POINT_LIGHT_SHADOWS ];
	#endif
#endif`,ew=`#if ( defined( USE_SHADOWMAP ) && ( NUM_DIR_LIGHT_SHADOWS > 0 || NUM_SUN_LIGHT_SHADOWS > 0 || NUM_POINT_LIGHT_SHADOWS > 0 ) ) || ( NUM_SPOT_LIGHT_COORDS > 0 )
	#ifdef HAS_NORMAL
		vec3 shadowWorldNormal = transformNormalByInverseViewMatrix( transformedNormal, viewMatrix );
	#else
		vec3 shadowWorldNormal = vec3( 0.0 );
	#endif
	vec4 shadowWorldPosition;
#endif
#if defined( USE_SHADOWMAP )
	#if NUM_SUN_LIGHT_SHADOWS > 0
		vSunShadowWorldPosition = vec4( worldPosition.xyz, - mvPosition.z );
		vSunShadowWorldNormal = shadowWorldNormal;
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_DIR_LIGHT_SHADOWS; i ++ ) {
			shadowWorldPosition = worldPosition + vec4( shadowWorldNormal * directionalLightShadows[ i ].shadowNormalBias, 0 );
			vDirectionalShadowCoord[ i ] = directionalShadowMatrix[ i ] * shadowWorldPosition;
		}
		#pragma unroll_loop_end
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_POINT_LIGHT_SHADOWS; i ++ ) {
			shadowWorldPosition = worldPosition + vec4( shadowWorldNormal * pointLightShadows[ i ].shadowNormalBias, 0 );
			vPointShadowCoord[ i ] = pointShadowMatrix[ i ] * shadowWorldPosition;
		}
		#pragma unroll_loop_end
	#endif
#endif
#if NUM_SPOT_LIGHT_COORDS > 0
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHT_COORDS; i ++ ) {
		shadowWorldPosition = worldPosition;
		#if ( defined( USE_SHADOWMAP ) && UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
			shadowWorldPosition.xyz += shadowWorldNormal * spotLightShadows[ i ].shadowNormalBias;
		#endif
		vSpotLightCoord[ i ] = spotLightMatrix[ i ] * shadowWorldPosition;
	}
	#pragma unroll_loop_end
#endif`,tw=`float getShadowMask() {
	float shadow = 1.0;
	#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
	SunLightShadow sunLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SUN_LIGHT_SHADOWS; i ++ ) {
		sunLight = sunLightShadows[ i ];
		shadow *= receiveShadow ? getSunShadow( sunShadowMap[ i ], sunLight, UNROLLED_LOOP_INDEX ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
	DirectionalLightShadow directionalLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_DIR_LIGHT_SHADOWS; i ++ ) {
		directionalLight = directionalLightShadows[ i ];
		shadow *= receiveShadow ? getShadow( directionalShadowMap[ i ], directionalLight.shadowMapSize, directionalLight.shadowIntensity, directionalLight.shadowBias, directionalLight.shadowRadius, vDirectionalShadowCoord[ i ] ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
	SpotLightShadow spotLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHT_SHADOWS; i ++ ) {
		spotLight = spotLightShadows[ i ];
		shadow *= receiveShadow ? getShadow( spotShadowMap[ i ], spotLight.shadowMapSize, spotLight.shadowIntensity, spotLight.shadowBias, spotLight.shadowRadius, vSpotLightCoord[ i ] ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0 && ( defined( SHADOWMAP_TYPE_PCF ) || defined( SHADOWMAP_TYPE_BASIC ) )
	PointLightShadow pointLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_POINT_LIGHT_SHADOWS; i ++ ) {
		pointLight = pointLightShadows[ i ];
		shadow *= receiveShadow ? getPointShadow( pointShadowMap[ i ], pointLight.shadowMapSize, pointLight.shadowIntensity, pointLight.shadowBias, pointLight.shadowRadius, vPointShadowCoord[ i ], pointLight.shadowCameraNear, pointLight.shadowCameraFar ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#endif
	return shadow;
}`,nw=`#ifdef USE_SKINNING
	mat4 boneMatX = getBoneMatrix( skinIndex.x );
	mat4 boneMatY = getBoneMatrix( skinIndex.y );
	mat4 boneMatZ = getBoneMatrix( skinIndex.z );
	mat4 boneMatW = getBoneMatrix( skinIndex.w );
#endif`,iw=`#ifdef USE_SKINNING
	uniform mat4 bindMatrix;
	uniform mat4 bindMatrixInverse;
	uniform highp sampler2D boneTexture;
	mat4 getBoneMatrix( const in float i ) {
		int size = textureSize( boneTexture, 0 ).x;
		int j = int( i ) * 4;
		int x = j % size;
		int y = j / size;
		vec4 v1 = texelFetch( boneTexture, ivec2( x, y ), 0 );
		vec4 v2 = texelFetch( boneTexture, ivec2( x + 1, y ), 0 );
		vec4 v3 = texelFetch( boneTexture, ivec2( x + 2, y ), 0 );
		vec4 v4 = texelFetch( boneTexture, ivec2( x + 3, y ), 0 );
		return mat4( v1, v2, v3, v4 );
	}
#endif`,rw=`#ifdef USE_SKINNING
	vec4 skinVertex = bindMatrix * vec4( transformed, 1.0 );
	vec4 skinned = vec4( 0.0 );
	skinned += boneMatX * skinVertex * skinWeight.x;
	skinned += boneMatY * skinVertex * skinWeight.y;
	skinned += boneMatZ * skinVertex * skinWeight.z;
	skinned += boneMatW * skinVertex * skinWeight.w;
	transformed = ( bindMatrixInverse * skinned ).xyz;
#endif`,sw=`#ifdef USE_SKINNING
	mat4 skinMatrix = mat4( 0.0 );
	skinMatrix += skinWeight.x * boneMatX;
	skinMatrix += skinWeight.y * boneMatY;
	skinMatrix += skinWeight.z * boneMatZ;
	skinMatrix += skinWeight.w * boneMatW;
	skinMatrix = bindMatrixInverse * skinMatrix * bindMatrix;
	objectNormal = vec4( skinMatrix * vec4( objectNormal, 0.0 ) ).xyz;
	#ifdef USE_TANGENT
		objectTangent = vec4( skinMatrix * vec4( objectTangent, 0.0 ) ).xyz;
	#endif
#endif`,aw=`float specularStrength;
#ifdef USE_SPECULARMAP
	vec4 texelSpecular = texture2D( specularMap, vSpecularMapUv );
	specularStrength = texelSpecular.r;
#else
	specularStrength = 1.0;
#endif`,ow=`#ifdef USE_SPECULARMAP
	uniform sampler2D specularMap;
#endif`,lw=`#if defined( TONE_MAPPING )
	gl_FragColor.rgb = toneMapping( gl_FragColor.rgb );
#endif`,cw=`#ifndef saturate
#define saturate( a ) clamp( a, 0.0, 1.0 )
#endif
uniform float toneMappingExposure;
vec3 LinearToneMapping( vec3 color ) {
	return saturate( toneMappingExposure * color );
}
vec3 ReinhardToneMapping( vec3 color ) {
	color *= toneMappingExposure;
	return saturate( color / ( vec3( 1.0 ) + color ) );
}
vec3 CineonToneMapping( vec3 color ) {
	color *= toneMappingExposure;
	color = max( vec3( 0.0 ), color - 0.004 );
	return pow( ( color * ( 6.2 * color + 0.5 ) ) / ( color * ( 6.2 * color + 1.7 ) + 0.06 ), vec3( 2.2 ) );
}
vec3 RRTAndODTFit( vec3 v ) {
	vec3 a = v * ( v + 0.0245786 ) - 0.000090537;
	vec3 b = v * ( 0.983729 * v + 0.4329510 ) + 0.238081;
	return a / b;
}
vec3 ACESFilmicToneMapping( vec3 color ) {
	const mat3 ACESInputMat = mat3(
		vec3( 0.59719, 0.07600, 0.02840 ),		vec3( 0.35458, 0.90834, 0.13383 ),
		vec3( 0.04823, 0.01566, 0.83777 )
	);
	const mat3 ACESOutputMat = mat3(
		vec3(  1.60475, -0.10208, -0.00327 ),		vec3( -0.53108,  1.10813, -0.07276 ),
		vec3( -0.07367, -0.00605,  1.07602 )
	);
	color *= toneMappingExposure / 0.6;
	color = ACESInputMat * color;
	color = RRTAndODTFit( color );
	color = ACESOutputMat * color;
	return saturate( color );
}
const mat3 LINEAR_REC2020_TO_LINEAR_SRGB = mat3(
	vec3( 1.6605, - 0.1246, - 0.0182 ),
	vec3( - 0.5876, 1.1329, - 0.1006 ),
	vec3( - 0.0728, - 0.0083, 1.1187 )
);
const mat3 LINEAR_SRGB_TO_LINEAR_REC2020 = mat3(
	vec3( 0.6274, 0.0691, 0.0164 ),
	vec3( 0.3293, 0.9195, 0.0880 ),
	vec3( 0.0433, 0.0113, 0.8956 )
);
vec3 agxDefaultContrastApprox( vec3 x ) {
	vec3 x2 = x * x;
	vec3 x4 = x2 * x2;
	return + 15.5 * x4 * x2
		- 40.14 * x4 * x
		+ 31.96 * x4
		- 6.868 * x2 * x
		+ 0.4298 * x2
		+ 0.1191 * x
		- 0.00232;
}
vec3 AgXToneMapping( vec3 color ) {
	const mat3 AgXInsetMatrix = mat3(
		vec3( 0.856627153315983, 0.137318972929847, 0.11189821299995 ),
		vec3( 0.0951212405381588, 0.761241990602591, 0.0767994186031903 ),
		vec3( 0.0482516061458583, 0.101439036467562, 0.811302368396859 )
	);
	const mat3 AgXOutsetMatrix = mat3(
		vec3( 1.1271005818144368, - 0.1413297634984383, - 0.14132976349843826 ),
		vec3( - 0.11060664309660323, 1.157823702216272, - 0.11060664309660294 ),
		vec3( - 0.016493938717834573, - 0.016493938717834257, 1.2519364065950405 )
	);
	const float AgxMinEv = - 12.47393;	const float AgxMaxEv = 4.026069;
	color *= toneMappingExposure;
	color = LINEAR_SRGB_TO_LINEAR_REC2020 * color;
	color = AgXInsetMatrix * color;
	color = max( color, 1e-10 );	color = log2( color );
	color = ( color - AgxMinEv ) / ( AgxMaxEv - AgxMinEv );
	color = clamp( color, 0.0, 1.0 );
	color = agxDefaultContrastApprox( color );
	color = AgXOutsetMatrix * color;
	color = pow( max( vec3( 0.0 ), color ), vec3( 2.2 ) );
	color = LINEAR_REC2020_TO_LINEAR_SRGB * color;
	color = clamp( color, 0.0, 1.0 );
	return color;
}
vec3 NeutralToneMapping( vec3 color ) {
	const float StartCompression = 0.8 - 0.04;
	const float Desaturation = 0.15;
	color *= toneMappingExposure;
	float x = min( color.r, min( color.g, color.b ) );
	float offset = x < 0.08 ? x - 6.25 * x * x : 0.04;
	color -= offset;
	float peak = max( color.r, max( color.g, color.b ) );
	if ( peak < StartCompression ) return color;
	float d = 1. - StartCompression;
	float newPeak = 1. - d * d / ( peak + d - StartCompression );
	color *= newPeak / peak;
	float g = 1. - 1. / ( Desaturation * ( peak - newPeak ) + 1. );
	return mix( color, vec3( newPeak ), g );
}
vec3 CustomToneMapping( vec3 color ) { return color; }`,uw=`#ifdef USE_TRANSMISSION
	material.transmission = transmission;
	material.transmissionAlpha = 1.0;
	material.thickness = thickness;
	material.attenuationDistance = attenuationDistance;
	material.attenuationColor = attenuationColor;
	#ifdef USE_TRANSMISSIONMAP
		material.transmission *= texture2D( transmissionMap, vTransmissionMapUv ).r;
	#endif
	#ifdef USE_THICKNESSMAP
		material.thickness *= texture2D( thicknessMap, vThicknessMapUv ).g;
	#endif
	vec3 pos = vWorldPosition;
	vec3 v = normalize( cameraPosition - pos );
	vec3 n = transformNormalByInverseViewMatrix( normal, viewMatrix );
	vec4 transmitted = getIBLVolumeRefraction(
		n, v, material.roughness, material.diffuseContribution, material.specularColorBlended, material.specularF90,
		pos, modelMatrix, viewMatrix, projectionMatrix, material.dispersion, material.ior, material.thickness,
		material.attenuationColor, material.attenuationDistance );
	material.transmissionAlpha = mix( material.transmissionAlpha, transmitted.a, material.transmission );
	totalDiffuse = mix( totalDiffuse, transmitted.rgb, material.transmission );
#endif`,hw=`#ifdef USE_TRANSMISSION
	uniform float transmission;
	uniform float thickness;
	uniform float attenuationDistance;
	uniform vec3 attenuationColor;
	#ifdef USE_TRANSMISSIONMAP
		uniform sampler2D transmissionMap;
	#endif
	#ifdef USE_THICKNESSMAP
		uniform sampler2D thicknessMap;
	#endif
	uniform vec2 transmissionSamplerSize;
	uniform sampler2D transmissionSamplerMap;
	uniform mat4 modelMatrix;
	uniform mat4 projectionMatrix;
	varying vec3 vWorldPosition;
	float w0( float a ) {
		return ( 1.0 / 6.0 ) * ( a * ( a * ( - a + 3.0 ) - 3.0 ) + 1.0 );
	}
	float w1( float a ) {
		return ( 1.0 / 6.0 ) * ( a *  a * ( 3.0 * a - 6.0 ) + 4.0 );
	}
	float w2( float a ){
		return ( 1.0 / 6.0 ) * ( a * ( a * ( - 3.0 * a + 3.0 ) + 3.0 ) + 1.0 );
	}
	float w3( float a ) {
		return ( 1.0 / 6.0 ) * ( a * a * a );
	}
	float g0( float a ) {
		return w0( a ) + w1( a );
	}
	float g1( float a ) {
		return w2( a ) + w3( a );
	}
	float h0( float a ) {
		return - 1.0 + w1( a ) / ( w0( a ) + w1( a ) );
	}
	float h1( float a ) {
		return 1.0 + w3( a ) / ( w2( a ) + w3( a ) );
	}
	vec4 bicubic( sampler2D tex, vec2 uv, vec4 texelSize, float lod ) {
		uv = uv * texelSize.zw + 0.5;
		vec2 iuv = floor( uv );
		vec2 fuv = fract( uv );
		float g0x = g0( fuv.x );
		float g1x = g1( fuv.x );
		float h0x = h0( fuv.x );
		float h1x = h1( fuv.x );
		float h0y = h0( fuv.y );
		float h1y = h1( fuv.y );
		vec2 p0 = ( vec2( iuv.x + h0x, iuv.y + h0y ) - 0.5 ) * texelSize.xy;
		vec2 p1 = ( vec2( iuv.x + h1x, iuv.y + h0y ) - 0.5 ) * texelSize.xy;
		vec2 p2 = ( vec2( iuv.x + h0x, iuv.y + h1y ) - 0.5 ) * texelSize.xy;
		vec2 p3 = ( vec2( iuv.x + h1x, iuv.y + h1y ) - 0.5 ) * texelSize.xy;
		return g0( fuv.y ) * ( g0x * textureLod( tex, p0, lod ) + g1x * textureLod( tex, p1, lod ) ) +
			g1( fuv.y ) * ( g0x * textureLod( tex, p2, lod ) + g1x * textureLod( tex, p3, lod ) );
	}
	vec4 textureBicubic( sampler2D sampler, vec2 uv, float lod ) {
		vec2 fLodSize = vec2( textureSize( sampler, int( lod ) ) );
		vec2 cLodSize = vec2( textureSize( sampler, int( lod + 1.0 ) ) );
		vec2 fLodSizeInv = 1.0 / fLodSize;
		vec2 cLodSizeInv = 1.0 / cLodSize;
		vec4 fSample = bicubic( sampler, uv, vec4( fLodSizeInv, fLodSize ), floor( lod ) );
		vec4 cSample = bicubic( sampler, uv, vec4( cLodSizeInv, cLodSize ), ceil( lod ) );
		return mix( fSample, cSample, fract( lod ) );
	}
	vec3 getVolumeTransmissionRay( const in vec3 n, const in vec3 v, const in float thickness, const in float ior, const in mat4 modelMatrix ) {
		vec3 refractionVector = refract( - v, normalize( n ), 1.0 / ior );
		vec3 modelScale;
		modelScale.x = length( vec3( modelMatrix[ 0 ].xyz ) );
		modelScale.y = length( vec3( modelMatrix[ 1 ].xyz ) );
		modelScale.z = length( vec3( modelMatrix[ 2 ].xyz ) );
		return normalize( refractionVector ) * thickness * modelScale;
	}
	float applyIorToRoughness( const in float roughness, const in float ior ) {
		return roughness * clamp( ior * 2.0 - 2.0, 0.0, 1.0 );
	}
	vec4 getTransmissionSample( const in vec2 fragCoord, const in float roughness, const in float ior ) {
		float lod = log2( transmissionSamplerSize.x ) * applyIorToRoughness( roughness, ior );
		return textureBicubic( transmissionSamplerMap, fragCoord.xy, lod );
	}
	vec3 volumeAttenuation( const in float transmissionDistance, const in vec3 attenuationColor, const in float attenuationDistance ) {
		if ( isinf( attenuationDistance ) ) {
			return vec3( 1.0 );
		} else {
			vec3 attenuationCoefficient = -log( attenuationColor ) / attenuationDistance;
			vec3 transmittance = exp( - attenuationCoefficient * transmissionDistance );			return transmittance;
		}
	}
	vec4 getIBLVolumeRefraction( const in vec3 n, const in vec3 v, const in float roughness, const in vec3 diffuseColor,
		const in vec3 specularColor, const in float specularF90, const in vec3 position, const in mat4 modelMatrix,
		const in mat4 viewMatrix, const in mat4 projMatrix, const in float dispersion, const in float ior, const in float thickness,
		const in vec3 attenuationColor, const in float attenuationDistance ) {
		vec4 transmittedLight;
		vec3 transmittance;
		#ifdef USE_DISPERSION
			float halfSpread = ( ior - 1.0 ) * 0.025 * dispersion;
			vec3 iors = vec3( ior - halfSpread, ior, ior + halfSpread );
			for ( int i = 0; i < 3; i ++ ) {
				vec3 transmissionRay = getVolumeTransmissionRay( n, v, thickness, iors[ i ], modelMatrix );
				vec3 refractedRayExit = position + transmissionRay;
				vec4 ndcPos = projMatrix * viewMatrix * vec4( refractedRayExit, 1.0 );
				vec2 refractionCoords = ndcPos.xy / ndcPos.w;
				refractionCoords += 1.0;
				refractionCoords /= 2.0;
				vec4 transmissionSample = getTransmissionSample( refractionCoords, roughness, iors[ i ] );
				transmittedLight[ i ] = transmissionSample[ i ];
				transmittedLight.a += transmissionSample.a;
				transmittance[ i ] = diffuseColor[ i ] * volumeAttenuation( length( transmissionRay ), attenuationColor, attenuationDistance )[ i ];
			}
			transmittedLight.a /= 3.0;
		#else
			vec3 transmissionRay = getVolumeTransmissionRay( n, v, thickness, ior, modelMatrix );
			vec3 refractedRayExit = position + transmissionRay;
			vec4 ndcPos = projMatrix * viewMatrix * vec4( refractedRayExit, 1.0 );
			vec2 refractionCoords = ndcPos.xy / ndcPos.w;
			refractionCoords += 1.0;
			refractionCoords /= 2.0;
			transmittedLight = getTransmissionSample( refractionCoords, roughness, ior );
			transmittance = diffuseColor * volumeAttenuation( length( transmissionRay ), attenuationColor, attenuationDistance );
		#endif
		vec3 attenuatedColor = transmittance * transmittedLight.rgb;
		vec3 F = EnvironmentBRDF( n, v, specularColor, specularF90, roughness );
		float transmittanceFactor = ( transmittance.r + transmittance.g + transmittance.b ) / 3.0;
		return vec4( ( 1.0 - F ) * attenuatedColor, 1.0 - ( 1.0 - transmittedLight.a ) * transmittanceFactor );
	}
#endif`,dw=`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	varying vec2 vUv;
#endif
#ifdef USE_MAP
	varying vec2 vMapUv;
#endif
#ifdef USE_ALPHAMAP
	varying vec2 vAlphaMapUv;
#endif
#ifdef USE_LIGHTMAP
	varying vec2 vLightMapUv;
#endif
#ifdef USE_AOMAP
	varying vec2 vAoMapUv;
#endif
#ifdef USE_BUMPMAP
	varying vec2 vBumpMapUv;
#endif
#ifdef USE_NORMALMAP
	varying vec2 vNormalMapUv;
#endif
#ifdef USE_EMISSIVEMAP
	varying vec2 vEmissiveMapUv;
#endif
#ifdef USE_METALNESSMAP
	varying vec2 vMetalnessMapUv;
#endif
#ifdef USE_ROUGHNESSMAP
	varying vec2 vRoughnessMapUv;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	varying vec2 vDiffuseRoughnessMapUv;
#endif
#ifdef USE_ANISOTROPYMAP
	varying vec2 vAnisotropyMapUv;
#endif
#ifdef USE_CLEARCOATMAP
	varying vec2 vClearcoatMapUv;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	varying vec2 vClearcoatNormalMapUv;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	varying vec2 vClearcoatRoughnessMapUv;
#endif
#ifdef USE_IRIDESCENCEMAP
	varying vec2 vIridescenceMapUv;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	varying vec2 vIridescenceThicknessMapUv;
#endif
#ifdef USE_SHEEN_COLORMAP
	varying vec2 vSheenColorMapUv;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	varying vec2 vSheenRoughnessMapUv;
#endif
#ifdef USE_SPECULARMAP
	varying vec2 vSpecularMapUv;
#endif
#ifdef USE_SPECULAR_COLORMAP
	varying vec2 vSpecularColorMapUv;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	varying vec2 vSpecularIntensityMapUv;
#endif
#ifdef USE_TRANSMISSIONMAP
	uniform mat3 transmissionMapTransform;
	varying vec2 vTransmissionMapUv;
#endif
#ifdef USE_THICKNESSMAP
	uniform mat3 thicknessMapTransform;
	varying vec2 vThicknessMapUv;
#endif`,fw=`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	varying vec2 vUv;
#endif
#ifdef USE_MAP
	uniform mat3 mapTransform;
	varying vec2 vMapUv;
#endif
#ifdef USE_ALPHAMAP
	uniform mat3 alphaMapTransform;
	varying vec2 vAlphaMapUv;
#endif
#ifdef USE_LIGHTMAP
	uniform mat3 lightMapTransform;
	varying vec2 vLightMapUv;
#endif
#ifdef USE_AOMAP
	uniform mat3 aoMapTransform;
	varying vec2 vAoMapUv;
#endif
#ifdef USE_BUMPMAP
	uniform mat3 bumpMapTransform;
	varying vec2 vBumpMapUv;
#endif
#ifdef USE_NORMALMAP
	uniform mat3 normalMapTransform;
	varying vec2 vNormalMapUv;
#endif
#ifdef USE_DISPLACEMENTMAP
	uniform mat3 displacementMapTransform;
	varying vec2 vDisplacementMapUv;
#endif
#ifdef USE_EMISSIVEMAP
	uniform mat3 emissiveMapTransform;
	varying vec2 vEmissiveMapUv;
#endif
#ifdef USE_METALNESSMAP
	uniform mat3 metalnessMapTransform;
	varying vec2 vMetalnessMapUv;
#endif
#ifdef USE_ROUGHNESSMAP
	uniform mat3 roughnessMapTransform;
	varying vec2 vRoughnessMapUv;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	uniform mat3 diffuseRoughnessMapTransform;
	varying vec2 vDiffuseRoughnessMapUv;
#endif
#ifdef USE_ANISOTROPYMAP
	uniform mat3 anisotropyMapTransform;
	varying vec2 vAnisotropyMapUv;
#endif
#ifdef USE_CLEARCOATMAP
	uniform mat3 clearcoatMapTransform;
	varying vec2 vClearcoatMapUv;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	uniform mat3 clearcoatNormalMapTransform;
	varying vec2 vClearcoatNormalMapUv;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	uniform mat3 clearcoatRoughnessMapTransform;
	varying vec2 vClearcoatRoughnessMapUv;
#endif
#ifdef USE_SHEEN_COLORMAP
	uniform mat3 sheenColorMapTransform;
	varying vec2 vSheenColorMapUv;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	uniform mat3 sheenRoughnessMapTransform;
	varying vec2 vSheenRoughnessMapUv;
#endif
#ifdef USE_IRIDESCENCEMAP
	uniform mat3 iridescenceMapTransform;
	varying vec2 vIridescenceMapUv;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	uniform mat3 iridescenceThicknessMapTransform;
	varying vec2 vIridescenceThicknessMapUv;
#endif
#ifdef USE_SPECULARMAP
	uniform mat3 specularMapTransform;
	varying vec2 vSpecularMapUv;
#endif
#ifdef USE_SPECULAR_COLORMAP
	uniform mat3 specularColorMapTransform;
	varying vec2 vSpecularColorMapUv;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	uniform mat3 specularIntensityMapTransform;
	varying vec2 vSpecularIntensityMapUv;
#endif
#ifdef USE_TRANSMISSIONMAP
	uniform mat3 transmissionMapTransform;
	varying vec2 vTransmissionMapUv;
#endif
#ifdef USE_THICKNESSMAP
	uniform mat3 thicknessMapTransform;
	varying vec2 vThicknessMapUv;
#endif`,pw=`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	vUv = vec3( uv, 1 ).xy;
#endif
#ifdef USE_MAP
	vMapUv = ( mapTransform * vec3( MAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ALPHAMAP
	vAlphaMapUv = ( alphaMapTransform * vec3( ALPHAMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_LIGHTMAP
	vLightMapUv = ( lightMapTransform * vec3( LIGHTMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_AOMAP
	vAoMapUv = ( aoMapTransform * vec3( AOMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_BUMPMAP
	vBumpMapUv = ( bumpMapTransform * vec3( BUMPMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_NORMALMAP
	vNormalMapUv = ( normalMapTransform * vec3( NORMALMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_DISPLACEMENTMAP
	vDisplacementMapUv = ( displacementMapTransform * vec3( DISPLACEMENTMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_EMISSIVEMAP
	vEmissiveMapUv = ( emissiveMapTransform * vec3( EMISSIVEMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_METALNESSMAP
	vMetalnessMapUv = ( metalnessMapTransform * vec3( METALNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ROUGHNESSMAP
	vRoughnessMapUv = ( roughnessMapTransform * vec3( ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	vDiffuseRoughnessMapUv = ( diffuseRoughnessMapTransform * vec3( DIFFUSE_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ANISOTROPYMAP
	vAnisotropyMapUv = ( anisotropyMapTransform * vec3( ANISOTROPYMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOATMAP
	vClearcoatMapUv = ( clearcoatMapTransform * vec3( CLEARCOATMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	vClearcoatNormalMapUv = ( clearcoatNormalMapTransform * vec3( CLEARCOAT_NORMALMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	vClearcoatRoughnessMapUv = ( clearcoatRoughnessMapTransform * vec3( CLEARCOAT_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_IRIDESCENCEMAP
	vIridescenceMapUv = ( iridescenceMapTransform * vec3( IRIDESCENCEMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	vIridescenceThicknessMapUv = ( iridescenceThicknessMapTransform * vec3( IRIDESCENCE_THICKNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SHEEN_COLORMAP
	vSheenColorMapUv = ( sheenColorMapTransform * vec3( SHEEN_COLORMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	vSheenRoughnessMapUv = ( sheenRoughnessMapTransform * vec3( SHEEN_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULARMAP
	vSpecularMapUv = ( specularMapTransform * vec3( SPECULARMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULAR_COLORMAP
	vSpecularColorMapUv = ( specularColorMapTransform * vec3( SPECULAR_COLORMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	vSpecularIntensityMapUv = ( specularIntensityMapTransform * vec3( SPECULAR_INTENSITYMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_TRANSMISSIONMAP
	vTransmissionMapUv = ( transmissionMapTransform * vec3( TRANSMISSIONMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_THICKNESSMAP
	vThicknessMapUv = ( thicknessMapTransform * vec3( THICKNESSMAP_UV, 1 ) ).xy;
#endif`,mw=`#if defined( USE_ENVMAP ) || defined( DISTANCE ) || defined ( USE_SHADOWMAP ) || defined ( USE_TRANSMISSION ) || NUM_SPOT_LIGHT_COORDS > 0
	vec4 worldPosition = vec4( transformed, 1.0 );
	#ifdef USE_BATCHING
		worldPosition = batchingMatrix * worldPosition;
	#endif
	#ifdef USE_INSTANCING
		worldPosition = instanceMatrix * worldPosition;
	#endif
	worldPosition = modelMatrix * worldPosition;
#endif`,gw=`varying vec2 vUv;
uniform mat3 uvTransform;
void main() {
	vUv = ( uvTransform * vec3( uv, 1 ) ).xy;
	gl_Position = vec4( position.xy, 1.0, 1.0 );
}`,_w=`uniform sampler2D t2D;
uniform float backgroundIntensity;
varying vec2 vUv;
void main() {
	vec4 texColor = texture2D( t2D, vUv );
	#ifdef DECODE_VIDEO_TEXTURE
		texColor = vec4( mix( pow( texColor.rgb * 0.9478672986 + vec3( 0.0521327014 ), vec3( 2.4 ) ), texColor.rgb * 0.0773993808, vec3( lessThanEqual( texColor.rgb, vec3( 0.04045 ) ) ) ), texColor.w );
	#endif
	texColor.rgb *= backgroundIntensity;
	gl_FragColor = texColor;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,vw=`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
	gl_Position.z = gl_Position.w;
}`,yw=`uniform float backgroundBlurriness;
uniform float backgroundIntensity;
uniform mat3 backgroundRotation;
varying vec3 vWorldDirection;
#include <envmap_common_pars_fragment>
void main() {
	#ifdef ENVMAP_TYPE_PMREM
		vec4 texColor = textureLod( envMap, backgroundRotation * vWorldDirection, roughnessToMip( backgroundBlurriness ) );
	#else
		vec4 texColor = textureCube( envMap, backgroundRotation * vWorldDirection );
	#endif
	texColor.rgb *= backgroundIntensity;
	gl_FragColor = texColor;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,xw=`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
	gl_Position.z = gl_Position.w;
}`,bw=`uniform samplerCube tCube;
uniform float tFlip;
uniform float opacity;
varying vec3 vWorldDirection;
void main() {
	vec4 texColor = textureCube( tCube, vec3( tFlip * vWorldDirection.x, vWorldDirection.yz ) );
	gl_FragColor = texColor;
	gl_FragColor.a *= opacity;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,Sw=`#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
varying vec2 vHighPrecisionZW;
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <skinbase_vertex>
	#include <morphinstance_vertex>
	#ifdef USE_DISPLACEMENTMAP
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vHighPrecisionZW = gl_Position.zw;
}`,ww=`#if DEPTH_PACKING == 3200
	uniform float opacity;
#endif
#include <common>
#include <packing>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
varying vec2 vHighPrecisionZW;
void main() {
	vec4 diffuseColor = vec4( 1.0 );
	#include <clipping_planes_fragment>
	#if DEPTH_PACKING == 3200
		diffuseColor.a = opacity;
	#endif
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <logdepthbuf_fragment>
	#ifdef USE_REVERSED_DEPTH_BUFFER
		float fragCoordZ = vHighPrecisionZW[ 0 ] / vHighPrecisionZW[ 1 ];
	#else
		float fragCoordZ = 0.5 * vHighPrecisionZW[ 0 ] / vHighPrecisionZW[ 1 ] + 0.5;
	#endif
	#if DEPTH_PACKING == 3200
		gl_FragColor = vec4( vec3( 1.0 - fragCoordZ ), opacity );
	#elif DEPTH_PACKING == 3201
		gl_FragColor = packDepthToRGBA( fragCoordZ );
	#elif DEPTH_PACKING == 3202
		gl_FragColor = vec4( packDepthToRGB( fragCoordZ ), 1.0 );
	#elif DEPTH_PACKING == 3203
		gl_FragColor = vec4( packDepthToRG( fragCoordZ ), 0.0, 1.0 );
	#endif
}`,Mw=`#define DISTANCE
varying vec3 vWorldPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <skinbase_vertex>
	#include <morphinstance_vertex>
	#ifdef USE_DISPLACEMENTMAP
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <worldpos_vertex>
	#include <clipping_planes_vertex>
	vWorldPosition = worldPosition.xyz;
}`,Ew=`#define DISTANCE
uniform vec3 referencePosition;
uniform float nearDistance;
uniform float farDistance;
varying vec3 vWorldPosition;
#include <common>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( 1.0 );
	#include <clipping_planes_fragment>
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	float dist = length( vWorldPosition - referencePosition );
	dist = ( dist - nearDistance ) / ( farDistance - nearDistance );
	dist = saturate( dist );
	gl_FragColor = vec4( dist, 0.0, 0.0, 1.0 );
}`,Tw=`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
}`,Aw=`uniform sampler2D tEquirect;
varying vec3 vWorldDirection;
#include <common>
void main() {
	vec3 direction = normalize( vWorldDirection );
	vec2 sampleUV = equirectUv( direction );
	gl_FragColor = texture2D( tEquirect, sampleUV );
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,Rw=`uniform float scale;
attribute float lineDistance;
varying float vLineDistance;
#include <common>
#include <uv_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	vLineDistance = scale * lineDistance;
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
}`,Cw=`uniform vec3 diffuse;
uniform float opacity;
uniform float dashSize;
uniform float totalSize;
varying float vLineDistance;
#include <common>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	if ( mod( vLineDistance, totalSize ) > dashSize ) {
		discard;
	}
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,Pw=`#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#if defined ( USE_ENVMAP ) || defined ( USE_SKINNING )
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinbase_vertex>
		#include <skinnormal_vertex>
		#include <defaultnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <fog_vertex>
}`,Iw=`uniform vec3 diffuse;
uniform float opacity;
#ifndef FLAT_SHADED
	varying vec3 vNormal;
#endif
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <fog_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	#ifdef USE_LIGHTMAP
		vec4 lightMapTexel = texture2D( lightMap, vLightMapUv );
		reflectedLight.indirectDiffuse += lightMapTexel.rgb * lightMapIntensity * RECIPROCAL_PI;
	#else
		reflectedLight.indirectDiffuse += vec3( 1.0 );
	#endif
	#include <aomap_fragment>
	reflectedLight.indirectDiffuse *= diffuseColor.rgb;
	vec3 outgoingLight = reflectedLight.indirectDiffuse;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,Lw=`#define LAMBERT
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,Dw=`#define LAMBERT
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_lambert_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_lambert_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + totalEmissiveRadiance;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,Fw=`#define MATCAP
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <color_pars_vertex>
#include <displacementmap_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
	vViewPosition = - mvPosition.xyz;
}`,Nw=`#define MATCAP
uniform vec3 diffuse;
uniform float opacity;
uniform sampler2D matcap;
varying vec3 vViewPosition;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <normal_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	vec3 viewDir = normalize( vViewPosition );
	vec3 x = normalize( vec3( viewDir.z, 0.0, - viewDir.x ) );
	vec3 y = cross( viewDir, x );
	vec2 uv = vec2( dot( x, normal ), dot( y, normal ) ) * 0.495 + 0.5;
	#ifdef USE_MATCAP
		vec4 matcapColor = texture2D( matcap, uv );
	#else
		vec4 matcapColor = vec4( vec3( mix( 0.2, 0.8, uv.y ) ), 1.0 );
	#endif
	vec3 outgoingLight = diffuseColor.rgb * matcapColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,Uw=`#define NORMAL
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	varying vec3 vViewPosition;
#endif
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	vViewPosition = - mvPosition.xyz;
#endif
}`,Ow=`#define NORMAL
uniform float opacity;
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	varying vec3 vViewPosition;
#endif
#include <uv_pars_fragment>
#include <normal_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( 0.0, 0.0, 0.0, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	gl_FragColor = vec4( normalize( normal ) * 0.5 + 0.5, diffuseColor.a );
	#ifdef OPAQUE
		gl_FragColor.a = 1.0;
	#endif
}`,Bw=`#define PHONG
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,kw=`#define PHONG
uniform vec3 diffuse;
uniform vec3 emissive;
uniform vec3 specular;
uniform float shininess;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_phong_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_phong_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + reflectedLight.directSpecular + reflectedLight.indirectSpecular + totalEmissiveRadiance;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,zw=`#define STANDARD
varying vec3 vViewPosition;
#ifdef USE_TRANSMISSION
	varying vec3 vWorldPosition;
#endif
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
#ifdef USE_TRANSMISSION
	vWorldPosition = worldPosition.xyz;
#endif
}`,Gw=`#define STANDARD
#ifdef PHYSICAL
	#define IOR
	#define USE_SPECULAR
#endif
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float roughness;
uniform float metalness;
uniform float opacity;
#ifdef IOR
	uniform float ior;
#endif
#ifdef USE_SPECULAR
	uniform float specularIntensity;
	uniform vec3 specularColor;
	#ifdef USE_SPECULAR_COLORMAP
		uniform sampler2D specularColorMap;
	#endif
	#ifdef USE_SPECULAR_INTENSITYMAP
		uniform sampler2D specularIntensityMap;
	#endif
#endif
#ifdef USE_CLEARCOAT
	uniform float clearcoat;
	uniform float clearcoatRoughness;
#endif
#ifdef USE_DIFFUSE_ROUGHNESS
	uniform float diffuseRoughness;
	#ifdef USE_DIFFUSE_ROUGHNESSMAP
		uniform sampler2D diffuseRoughnessMap;
	#endif
#endif
#ifdef USE_DISPERSION
	uniform float dispersion;
#endif
#ifdef USE_RETROREFLECTION
	uniform float retroreflectivity;
#endif
#ifdef USE_IRIDESCENCE
	uniform float iridescence;
	uniform float iridescenceIOR;
	uniform float iridescenceThicknessMinimum;
	uniform float iridescenceThicknessMaximum;
#endif
#ifdef USE_SHEEN
	uniform vec3 sheenColor;
	uniform float sheenRoughness;
	#ifdef USE_SHEEN_COLORMAP
		uniform sampler2D sheenColorMap;
	#endif
	#ifdef USE_SHEEN_ROUGHNESSMAP
		uniform sampler2D sheenRoughnessMap;
	#endif
#endif
#ifdef USE_ANISOTROPY
	uniform vec2 anisotropyVector;
	#ifdef USE_ANISOTROPYMAP
		uniform sampler2D anisotropyMap;
	#endif
#endif
varying vec3 vViewPosition;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <iridescence_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_physical_pars_fragment>
#include <transmission_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <clearcoat_pars_fragment>
#include <iridescence_pars_fragment>
#include <roughnessmap_pars_fragment>
#include <metalnessmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <roughnessmap_fragment>
	#include <metalnessmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <clearcoat_normal_fragment_begin>
	#include <clearcoat_normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_physical_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 totalDiffuse = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse;
	vec3 totalSpecular = reflectedLight.directSpecular + reflectedLight.indirectSpecular;
	#include <transmission_fragment>
	vec3 outgoingLight = totalDiffuse + totalSpecular + totalEmissiveRadiance;
	#ifdef USE_SHEEN
 
		outgoingLight = outgoingLight + sheenSpecularDirect + sheenSpecularIndirect;
 
 	#endif
	#ifdef USE_CLEARCOAT
		float dotNVcc = saturate( dot( geometryClearcoatNormal, geometryViewDir ) );
		vec3 Fcc = F_Schlick( material.clearcoatF0, material.clearcoatF90, dotNVcc );
		outgoingLight = outgoingLight * ( 1.0 - material.clearcoat * Fcc ) + ( clearcoatSpecularDirect + clearcoatSpecularIndirect ) * material.clearcoat;
	#endif
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,Vw=`#define TOON
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,Hw=`#define TOON
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <gradientmap_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_toon_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_toon_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + totalEmissiveRadiance;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,Ww=`uniform float size;
uniform float scale;
#include <common>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
#ifdef USE_POINTS_UV
	varying vec2 vUv;
	uniform mat3 uvTransform;
#endif
void main() {
	#ifdef USE_POINTS_UV
		vUv = ( uvTransform * vec3( uv, 1 ) ).xy;
	#endif
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <project_vertex>
	gl_PointSize = size;
	#ifdef USE_SIZEATTENUATION
		bool isPerspective = isPerspectiveMatrix( projectionMatrix );
		if ( isPerspective ) gl_PointSize *= ( scale / - mvPosition.z );
	#endif
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <worldpos_vertex>
	#include <fog_vertex>
}`,$w=`uniform vec3 diffuse;
uniform float opacity;
#include <common>
#include <color_pars_fragment>
#include <map_particle_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_particle_fragment>
	#include <color_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,Xw=`#include <common>
#include <batching_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <shadowmap_pars_vertex>
void main() {
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,qw=`uniform vec3 color;
uniform float opacity;
#include <common>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <logdepthbuf_pars_fragment>
#include <shadowmap_pars_fragment>
#include <shadowmask_pars_fragment>
void main() {
	#include <logdepthbuf_fragment>
	gl_FragColor = vec4( color, opacity * ( 1.0 - getShadowMask() ) );
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,jw=`uniform float rotation;
uniform vec2 center;
#include <common>
#include <uv_pars_vertex>
#include <fog_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	vec4 mvPosition = modelViewMatrix[ 3 ];
	vec2 scale = vec2( length( modelMatrix[ 0 ].xyz ), length( modelMatrix[ 1 ].xyz ) );
	#ifndef USE_SIZEATTENUATION
		bool isPerspective = isPerspectiveMatrix( projectionMatrix );
		if ( isPerspective ) scale *= - mvPosition.z;
	#endif
	vec2 alignedPosition = ( position.xy - ( center - vec2( 0.5 ) ) ) * scale;
	vec2 rotatedPosition;
	rotatedPosition.x = cos( rotation ) * alignedPosition.x - sin( rotation ) * alignedPosition.y;
	rotatedPosition.y = sin( rotation ) * alignedPosition.x + cos( rotation ) * alignedPosition.y;
	mvPosition.xy += rotatedPosition;
	gl_Position = projectionMatrix * mvPosition;
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
}`,Yw=`uniform vec3 diffuse;
uniform float opacity;
#include <common>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
}`,Ct={alphahash_fragment:_b,alphahash_pars_fragment:vb,alphamap_fragment:yb,alphamap_pars_fragment:xb,alphatest_fragment:bb,alphatest_pars_fragment:Sb,aomap_fragment:wb,aomap_pars_fragment:Mb,batching_pars_vertex:Eb,batching_vertex:Tb,begin_vertex:Ab,beginnormal_vertex:Rb,bsdfs:Cb,iridescence_fragment:Pb,bumpmap_pars_fragment:Ib,clipping_planes_fragment:Lb,clipping_planes_pars_fragment:Db,clipping_planes_pars_vertex:Fb,clipping_planes_vertex:Nb,color_fragment:Ub,color_pars_fragment:Ob,color_pars_vertex:Bb,color_vertex:kb,common:zb,defaultnormal_vertex:Gb,displacementmap_pars_vertex:Vb,displacementmap_vertex:Hb,emissivemap_fragment:Wb,emissivemap_pars_fragment:$b,colorspace_fragment:Xb,colorspace_pars_fragment:qb,envmap_fragment:jb,envmap_common_pars_fragment:Yb,envmap_pars_fragment:Jb,envmap_pars_vertex:Zb,envmap_physical_pars_fragment:lS,envmap_vertex:Kb,fog_vertex:Qb,fog_pars_vertex:eS,fog_fragment:tS,fog_pars_fragment:nS,gradientmap_pars_fragment:iS,lightmap_pars_fragment:rS,lights_lambert_fragment:sS,lights_lambert_pars_fragment:aS,lights_pars_begin:oS,lights_toon_fragment:cS,lights_toon_pars_fragment:uS,lights_phong_fragment:hS,lights_phong_pars_fragment:dS,lights_physical_fragment:fS,lights_physical_pars_fragment:pS,lights_fragment_begin:mS,lights_fragment_maps:gS,lights_fragment_end:_S,lightprobes_pars_fragment:vS,logdepthbuf_fragment:yS,logdepthbuf_pars_fragment:xS,logdepthbuf_pars_vertex:bS,logdepthbuf_vertex:SS,map_fragment:wS,map_pars_fragment:MS,map_particle_fragment:ES,map_particle_pars_fragment:TS,metalnessmap_fragment:AS,metalnessmap_pars_fragment:RS,morphinstance_vertex:CS,morphcolor_vertex:PS,morphnormal_vertex:IS,morphtarget_pars_vertex:LS,morphtarget_vertex:DS,normal_fragment_begin:FS,normal_fragment_maps:NS,normal_pars_fragment:US,normal_pars_vertex:OS,normal_vertex:BS,normalmap_pars_fragment:kS,clearcoat_normal_fragment_begin:zS,clearcoat_normal_fragment_maps:GS,clearcoat_pars_fragment:VS,iridescence_pars_fragment:HS,opaque_fragment:WS,packing:$S,premultiplied_alpha_fragment:XS,project_vertex:qS,dithering_fragment:jS,dithering_pars_fragment:YS,roughnessmap_fragment:JS,roughnessmap_pars_fragment:ZS,shadowmap_pars_fragment:KS,shadowmap_pars_vertex:QS,shadowmap_vertex:ew,shadowmask_pars_fragment:tw,skinbase_vertex:nw,skinning_pars_vertex:iw,skinning_vertex:rw,skinnormal_vertex:sw,specularmap_fragment:aw,specularmap_pars_fragment:ow,tonemapping_fragment:lw,tonemapping_pars_fragment:cw,transmission_fragment:uw,transmission_pars_fragment:hw,uv_pars_fragment:dw,uv_pars_vertex:fw,uv_vertex:pw,worldpos_vertex:mw,background_vert:gw,background_frag:_w,backgroundCube_vert:vw,backgroundCube_frag:yw,cube_vert:xw,cube_frag:bw,depth_vert:Sw,depth_frag:ww,distance_vert:Mw,distance_frag:Ew,equirect_vert:Tw,equirect_frag:Aw,linedashed_vert:Rw,linedashed_frag:Cw,meshbasic_vert:Pw,meshbasic_frag:Iw,meshlambert_vert:Lw,meshlambert_frag:Dw,meshmatcap_vert:Fw,meshmatcap_frag:Nw,meshnormal_vert:Uw,meshnormal_frag:Ow,meshphong_vert:Bw,meshphong_frag:kw,meshphysical_vert:zw,meshphysical_frag:Gw,meshtoon_vert:Vw,meshtoon_frag:Hw,points_vert:Ww,points_frag:$w,shadow_vert:Xw,shadow_frag:qw,sprite_vert:jw,sprite_frag:Yw},Xe={common:{diffuse:{value:new wt(16777215)},opacity:{value:1},map:{value:null},mapTransform:{value:new yt},alphaMap:{value:null},alphaMapTransform:{value:new yt},alphaTest:{value:0}},specularmap:{specularMap:{value:null},specularMapTransform:{value:new yt}},envmap:{envMap:{value:null},envMapRotation:{value:new yt},reflectivity:{value:1},ior:{value:1.5},refractionRatio:{value:.98},dfgLUT:{value:null}},aomap:{aoMap:{value:null},aoMapIntensity:{value:1},aoMapTransform:{value:new yt}},lightmap:{lightMap:{value:null},lightMapIntensity:{value:1},lightMapTransform:{value:new yt}},bumpmap:{bumpMap:{value:null},bumpMapTransform:{value:new yt},bumpScale:{value:1}},normalmap:{normalMap:{value:null},normalMapTransform:{value:new yt},normalScale:{value:new Lt(1,1)}},displacementmap:{displacementMap:{value:null},displacementMapTransform:{value:new yt},displacementScale:{value:1},displacementBias:{value:0}},emissivemap:{emissiveMap:{value:null},emissiveMapTransform:{value:new yt}},metalnessmap:{metalnessMap:{value:null},metalnessMapTransform:{value:new yt}},roughnessmap:{roughnessMap:{value:null},roughnessMapTransform:{value:new yt}},gradientmap:{gradientMap:{value:null}},fog:{fogDensity:{value:25e-5},fogNear:{value:1},fogFar:{value:2e3},fogColor:{value:new wt(16777215)}},lights:{ambientLightColor:{value:[]},lightProbe:{value:[]},sunLights:{value:[],properties:{direction:{},color:{}}},sunLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},sunShadowMatrix:{value:[]},sunShadowCascade:{value:[]},directionalLights:{value:[],properties:{direction:{},color:{}}},directionalLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},directionalShadowMatrix:{value:[]},spotLights:{value:[],properties:{color:{},position:{},direction:{},distance:{},coneCos:{},penumbraCos:{},decay:{}}},spotLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},spotLightMap:{value:[]},spotLightMatrix:{value:[]},pointLights:{value:[],properties:{color:{},position:{},decay:{},distance:{}}},pointLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{},shadowCameraNear:{},shadowCameraFar:{}}},pointShadowMatrix:{value:[]},hemisphereLights:{value:[],properties:{direction:{},skyColor:{},groundColor:{}}},rectAreaLights:{value:[],properties:{color:{},position:{},width:{},height:{}}},ltc_1:{value:null},ltc_2:{value:null},probesSH:{value:[]},probesMin:{value:[]},probesMax:{value:[]},probesResolution:{value:[]}},points:{diffuse:{value:new wt(16777215)},opacity:{value:1},size:{value:1},scale:{value:1},map:{value:null},alphaMap:{value:null},alphaMapTransform:{value:new yt},alphaTest:{value:0},uvTransform:{value:new yt}},sprite:{diffuse:{value:new wt(16777215)},opacity:{value:1},center:{value:new Lt(.5,.5)},rotation:{value:0},map:{value:null},mapTransform:{value:new yt},alphaMap:{value:null},alphaMapTransform:{value:new yt},alphaTest:{value:0}}},zi={basic:{uniforms:On([Xe.common,Xe.specularmap,Xe.envmap,Xe.aomap,Xe.lightmap,Xe.fog]),vertexShader:Ct.meshbasic_vert,fragmentShader:Ct.meshbasic_frag},lambert:{uniforms:On([Xe.common,Xe.specularmap,Xe.envmap,Xe.aomap,Xe.lightmap,Xe.emissivemap,Xe.bumpmap,Xe.normalmap,Xe.displacementmap,Xe.fog,Xe.lights,{emissive:{value:new wt(0)},envMapIntensity:{value:1}}]),vertexShader:Ct.meshlambert_vert,fragmentShader:Ct.meshlambert_frag},phong:{uniforms:On([Xe.common,Xe.specularmap,Xe.envmap,Xe.aomap,Xe.lightmap,Xe.emissivemap,Xe.bumpmap,Xe.normalmap,Xe.displacementmap,Xe.fog,Xe.lights,{emissive:{value:new wt(0)},specular:{value:new wt(1118481)},shininess:{value:30},envMapIntensity:{value:1}}]),vertexShader:Ct.meshphong_vert,fragmentShader:Ct.meshphong_frag},standard:{uniforms:On([Xe.common,Xe.envmap,Xe.aomap,Xe.lightmap,Xe.emissivemap,Xe.bumpmap,Xe.normalmap,Xe.displacementmap,Xe.roughnessmap,Xe.metalnessmap,Xe.fog,Xe.lights,{emissive:{value:new wt(0)},roughness:{value:1},metalness:{value:0},envMapIntensity:{value:1}}]),vertexShader:Ct.meshphysical_vert,fragmentShader:Ct.meshphysical_frag},toon:{uniforms:On([Xe.common,Xe.aomap,Xe.lightmap,Xe.emissivemap,Xe.bumpmap,Xe.normalmap,Xe.displacementmap,Xe.gradientmap,Xe.fog,Xe.lights,{emissive:{value:new wt(0)}}]),vertexShader:Ct.meshtoon_vert,fragmentShader:Ct.meshtoon_frag},matcap:{uniforms:On([Xe.common,Xe.bumpmap,Xe.normalmap,Xe.displacementmap,Xe.fog,{matcap:{value:null}}]),vertexShader:Ct.meshmatcap_vert,fragmentShader:Ct.meshmatcap_frag},points:{uniforms:On([Xe.points,Xe.fog]),vertexShader:Ct.points_vert,fragmentShader:Ct.points_frag},dashed:{uniforms:On([Xe.common,Xe.fog,{scale:{value:1},dashSize:{value:1},totalSize:{value:2}}]),vertexShader:Ct.linedashed_vert,fragmentShader:Ct.linedashed_frag},depth:{uniforms:On([Xe.common,Xe.displacementmap]),vertexShader:Ct.depth_vert,fragmentShader:Ct.depth_frag},normal:{uniforms:On([Xe.common,Xe.bumpmap,Xe.normalmap,Xe.displacementmap,{opacity:{value:1}}]),vertexShader:Ct.meshnormal_vert,fragmentShader:Ct.meshnormal_frag},sprite:{uniforms:On([Xe.sprite,Xe.fog]),vertexShader:Ct.sprite_vert,fragmentShader:Ct.sprite_frag},background:{uniforms:{uvTransform:{value:new yt},t2D:{value:null},backgroundIntensity:{value:1}},vertexShader:Ct.background_vert,fragmentShader:Ct.background_frag},backgroundCube:{uniforms:{envMap:{value:null},backgroundBlurriness:{value:0},backgroundIntensity:{value:1},backgroundRotation:{value:new yt}},vertexShader:Ct.backgroundCube_vert,fragmentShader:Ct.backgroundCube_frag},cube:{uniforms:{tCube:{value:null},tFlip:{value:-1},opacity:{value:1}},vertexShader:Ct.cube_vert,fragmentShader:Ct.cube_frag},equirect:{uniforms:{tEquirect:{value:null}},vertexShader:Ct.equirect_vert,fragmentShader:Ct.equirect_frag},distance:{uniforms:On([Xe.common,Xe.displacementmap,{referencePosition:{value:new re},nearDistance:{value:1},farDistance:{value:1e3}}]),vertexShader:Ct.distance_vert,fragmentShader:Ct.distance_frag},shadow:{uniforms:On([Xe.lights,Xe.fog,{color:{value:new wt(0)},opacity:{value:1}}]),vertexShader:Ct.shadow_vert,fragmentShader:Ct.shadow_frag}};zi.physical={uniforms:On([zi.standard.uniforms,{clearcoat:{value:0},clearcoatMap:{value:null},clearcoatMapTransform:{value:new yt},clearcoatNormalMap:{value:null},clearcoatNormalMapTransform:{value:new yt},clearcoatNormalScale:{value:new Lt(1,1)},clearcoatRoughness:{value:0},clearcoatRoughnessMap:{value:null},clearcoatRoughnessMapTransform:{value:new yt},diffuseRoughness:{value:0},diffuseRoughnessMap:{value:null},diffuseRoughnessMapTransform:{value:new yt},dispersion:{value:0},retroreflectivity:{value:0},iridescence:{value:0},iridescenceMap:{value:null},iridescenceMapTransform:{value:new yt},iridescenceIOR:{value:1.3},iridescenceThicknessMinimum:{value:100},iridescenceThicknessMaximum:{value:400},iridescenceThicknessMap:{value:null},iridescenceThicknessMapTransform:{value:new yt},sheen:{value:0},sheenColor:{value:new wt(0)},sheenColorMap:{value:null},sheenColorMapTransform:{value:new yt},sheenRoughness:{value:1},sheenRoughnessMap:{value:null},sheenRoughnessMapTransform:{value:new yt},transmission:{value:0},transmissionMap:{value:null},transmissionMapTransform:{value:new yt},transmissionSamplerSize:{value:new Lt},transmissionSamplerMap:{value:null},thickness:{value:0},thicknessMap:{value:null},thicknessMapTransform:{value:new yt},attenuationDistance:{value:0},attenuationColor:{value:new wt(0)},specularColor:{value:new wt(1,1,1)},specularColorMap:{value:null},specularColorMapTransform:{value:new yt},specularIntensity:{value:1},specularIntensityMap:{value:null},specularIntensityMapTransform:{value:new yt},anisotropyVector:{value:new Lt},anisotropyMap:{value:null},anisotropyMapTransform:{value:new yt}}]),vertexShader:Ct.meshphysical_vert,fragmentShader:Ct.meshphysical_frag};var Ec={r:0,b:0,g:0},Jw=new Yt,rm=new yt;rm.set(-1,0,0,0,1,0,0,0,1);function Zw(i,e,t,n,r,a){let l=new wt(0),c=r===!0?0:1,h,d,p=null,m=0,g=null;function v(D){let U=D.isScene===!0?D.background:null;if(U&&U.isTexture){let F=D.backgroundBlurriness>0;U=e.get(U,F)}return U}function w(D){let U=!1,F=v(D);F===null?b(l,c):F&&F.isColor&&(b(F,1),U=!0);let k=i.xr.getEnvironmentBlendMode();k==="additive"?t.buffers.color.setClear(0,0,0,1,a):k==="alpha-blend"&&t.buffers.color.setClear(0,0,0,0,a),(i.autoClear||U)&&(t.buffers.depth.setTest(!0),t.buffers.depth.setMask(!0),t.buffers.color.setMask(!0),i.clear(i.autoClearColor,i.autoClearDepth,i.autoClearStencil))}function C(D,U){let F=v(U);F&&F.isCubeTexture?(d===void 0&&(d=new Un(new wr(1,1,1),new Ui({name:"BackgroundCubeMaterial",uniforms:Yr(zi.backgroundCube.uniforms),vertexShader:zi.backgroundCube.vertexShader,fragmentShader:zi.backgroundCube.fragmentShader,side:Xn,depthTest:!1,depthWrite:!1,fog:!1,allowOverride:!1})),d.geometry.deleteAttribute("normal"),d.geometry.deleteAttribute("uv"),d.onBeforeRender=function(k,L,E){this.matrixWorld.copyPosition(E.matrixWorld)},Object.defineProperty(d.material,"envMap",{get:function(){return this.uniforms.envMap.value}}),n.update(d)),d.material.uniforms.envMap.value=F,d.material.uniforms.backgroundBlurriness.value=U.backgroundBlurriness,d.material.uniforms.backgroundIntensity.value=U.backgroundIntensity,d.material.uniforms.backgroundRotation.value.setFromMatrix4(Jw.makeRotationFromEuler(U.backgroundRotation)).transpose(),F.isRenderTargetTexture===!1&&d.material.uniforms.backgroundRotation.value.premultiply(rm),d.material.toneMapped=Ut.getTransfer(F.colorSpace)!==Jt,(p!==F||m!==F.version||g!==i.toneMapping)&&(d.material.needsUpdate=!0,p=F,m=F.version,g=i.toneMapping),d.layers.enableAll(),D.unshift(d,d.geometry,d.material,0,0,null)):F&&F.isTexture&&(h===void 0&&(h=new Un(new Mr(2,2),new Ui({name:"BackgroundMaterial",uniforms:Yr(zi.background.uniforms),vertexShader:zi.background.vertexShader,fragmentShader:zi.background.fragmentShader,side:Rr,depthTest:!1,depthWrite:!1,fog:!1,allowOverride:!1})),h.geometry.deleteAttribute("normal"),Object.defineProperty(h.material,"map",{get:function(){return this.uniforms.t2D.value}}),n.update(h)),h.material.uniforms.t2D.value=F,h.material.uniforms.backgroundIntensity.value=U.backgroundIntensity,h.material.toneMapped=Ut.getTransfer(F.colorSpace)!==Jt,F.matrixAutoUpdate===!0&&F.updateMatrix(),h.material.uniforms.uvTransform.value.copy(F.matrix),(p!==F||m!==F.version||g!==i.toneMapping)&&(h.material.needsUpdate=!0,p=F,m=F.version,g=i.toneMapping),h.layers.enableAll(),D.unshift(h,h.geometry,h.material,0,0,null))}function b(D,U){D.getRGB(Ec,Uh(i)),t.buffers.color.setClear(Ec.r,Ec.g,Ec.b,U,a)}function y(){d!==void 0&&(d.geometry.dispose(),d.material.dispose(),d=void 0),h!==void 0&&(h.geometry.dispose(),h.material.dispose(),h=void 0)}return{getClearColor:function(){return l},setClearColor:function(D,U=1){l.set(D),c=U,b(l,c)},getClearAlpha:function(){return c},setClearAlpha:function(D){c=D,b(l,c)},render:w,addToRenderList:C,dispose:y}}function Kw(i,e){let t=i.getParameter(i.MAX_VERTEX_ATTRIBS),n={},r=g(null),a=r,l=!1;function c(ee,q,ne,X,te){let H=!1,le=m(ee,X,ne,q);a!==le&&(a=le,d(a.object)),H=v(ee,X,ne,te),H&&w(ee,X,ne,te),te!==null&&e.update(te,i.ELEMENT_ARRAY_BUFFER),(H||l)&&(l=!1,F(ee,q,ne,X),te!==null&&i.bindBuffer(i.ELEMENT_ARRAY_BUFFER,e.get(te).buffer))}function h(){return i.createVertexArray()}function d(ee){return i.bindVertexArray(ee)}function p(ee){return i.deleteVertexArray(ee)}function m(ee,q,ne,X){let te=X.wireframe===!0,H=n[q.id];H===void 0&&(H={},n[q.id]=H);let le=ee.isInstancedMesh===!0?ee.id:0,be=H[le];be===void 0&&(be={},H[le]=be);let ue=be[ne.id];ue===void 0&&(ue={},be[ne.id]=ue);let $=ue[te];return $===void 0&&($=g(h()),ue[te]=$),$}function g(ee){let q=[],ne=[],X=[];for(let te=0;te<t;te++)q[te]=0,ne[te]=0,X[te]=0;return{geometry:null,program:null,wireframe:!1,newAttributes:q,enabledAttributes:ne,attributeDivisors:X,object:ee,attributes:{},index:null}}function v(ee,q,ne,X){let te=a.attributes,H=q.attributes,le=0,be=ne.getAttributes();for(let ue in be)if(be[ue].location>=0){let ye=te[ue],qe=H[ue];if(qe===void 0&&(ue==="instanceMatrix"&&ee.instanceMatrix&&(qe=ee.instanceMatrix),ue==="instanceColor"&&ee.instanceColor&&(qe=ee.instanceColor)),ye===void 0||ye.attribute!==qe||qe&&ye.data!==qe.data)return!0;le++}return a.attributesNum!==le||a.index!==X}function w(ee,q,ne,X){let te={},H=q.attributes,le=0,be=ne.getAttributes();for(let ue in be)if(be[ue].location>=0){let ye=H[ue];ye===void 0&&(ue==="instanceMatrix"&&ee.instanceMatrix&&(ye=ee.instanceMatrix),ue==="instanceColor"&&ee.instanceColor&&(ye=ee.instanceColor));let qe={};qe.attribute=ye,ye&&ye.data&&(qe.data=ye.data),te[ue]=qe,le++}a.attributes=te,a.attributesNum=le,a.index=X}function C(){let ee=a.newAttributes;for(let q=0,ne=ee.length;q<ne;q++)ee[q]=0}function b(ee){y(ee,0)}function y(ee,q){let ne=a.newAttributes,X=a.enabledAttributes,te=a.attributeDivisors;ne[ee]=1,X[ee]===0&&(i.enableVertexAttribArray(ee),X[ee]=1),te[ee]!==q&&(i.vertexAttribDivisor(ee,q),te[ee]=q)}function D(){let ee=a.newAttributes,q=a.enabledAttributes;for(let ne=0,X=q.length;ne<X;ne++)q[ne]!==ee[ne]&&(i.disableVertexAttribArray(ne),q[ne]=0)}function U(ee,q,ne,X,te,H,le){le===!0?i.vertexAttribIPointer(ee,q,ne,te,H):i.vertexAttribPointer(ee,q,ne,X,te,H)}function F(ee,q,ne,X){C();let te=X.attributes,H=ne.getAttributes(),le=q.defaultAttributeValues;for(let be in H){let ue=H[be];if(ue.location>=0){let $=te[be];if($===void 0&&(be==="instanceMatrix"&&ee.instanceMatrix&&($=ee.instanceMatrix),be==="instanceColor"&&ee.instanceColor&&($=ee.instanceColor)),$!==void 0){let ye=$.normalized,qe=$.itemSize,at=e.get($);if(at===void 0)continue;let fe=at.buffer,He=at.type,Ie=at.bytesPerElement,Qe=He===i.INT||He===i.UNSIGNED_INT||$.gpuType===Gl;if($.isInterleavedBufferAttribute){let Ue=$.data,Ke=Ue.isInterleavedBuffer===!0?Ue.stride:Ue.itemSize,ct=$.offset;if(Ue.isInstancedInterleavedBuffer||Ue.isInstancedBufferAttribute){for(let Oe=0;Oe<ue.locationSize;Oe++)y(ue.location+Oe,Ue.meshPerAttribute);ee.isInstancedMesh!==!0&&X._maxInstanceCount===void 0&&(X._maxInstanceCount=Ue.meshPerAttribute*Ue.count)}else for(let Oe=0;Oe<ue.locationSize;Oe++)b(ue.location+Oe);i.bindBuffer(i.ARRAY_BUFFER,fe);for(let Oe=0;Oe<ue.locationSize;Oe++)U(ue.location+Oe,qe/ue.locationSize,He,ye,Ke*Ie,(ct+qe/ue.locationSize*Oe)*Ie,Qe)}else{if($.isInstancedBufferAttribute){for(let Ue=0;Ue<ue.locationSize;Ue++)y(ue.location+Ue,$.meshPerAttribute);ee.isInstancedMesh!==!0&&X._maxInstanceCount===void 0&&(X._maxInstanceCount=$.meshPerAttribute*$.count)}else for(let Ue=0;Ue<ue.locationSize;Ue++)b(ue.location+Ue);i.bindBuffer(i.ARRAY_BUFFER,fe);for(let Ue=0;Ue<ue.locationSize;Ue++)U(ue.location+Ue,qe/ue.locationSize,He,ye,qe*Ie,qe/ue.locationSize*Ue*Ie,Qe)}}else if(le!==void 0){let ye=le[be];if(ye!==void 0)switch(ye.length){case 2:i.vertexAttrib2fv(ue.location,ye);break;case 3:i.vertexAttrib3fv(ue.location,ye);break;case 4:i.vertexAttrib4fv(ue.location,ye);break;default:i.vertexAttrib1fv(ue.location,ye)}}}}D()}function k(){J();for(let ee in n){let q=n[ee];for(let ne in q){let X=q[ne];for(let te in X){let H=X[te];for(let le in H)p(H[le].object),delete H[le];delete X[te]}}delete n[ee]}}function L(ee){if(n[ee.id]===void 0)return;let q=n[ee.id];for(let ne in q){let X=q[ne];for(let te in X){let H=X[te];for(let le in H)p(H[le].object),delete H[le];delete X[te]}}delete n[ee.id]}function E(ee){for(let q in n){let ne=n[q];for(let X in ne){let te=ne[X];if(te[ee.id]===void 0)continue;let H=te[ee.id];for(let le in H)p(H[le].object),delete H[le];delete te[ee.id]}}}function N(ee){for(let q in n){let ne=n[q],X=ee.isInstancedMesh===!0?ee.id:0,te=ne[X];if(te!==void 0){for(let H in te){let le=te[H];for(let be in le)p(le[be].object),delete le[be];delete te[H]}delete ne[X],Object.keys(ne).length===0&&delete n[q]}}}function J(){V(),l=!0,a!==r&&(a=r,d(a.object))}function V(){r.geometry=null,r.program=null,r.wireframe=!1}return{setup:c,reset:J,resetDefaultState:V,dispose:k,releaseStatesOfGeometry:L,releaseStatesOfObject:N,releaseStatesOfProgram:E,initAttributes:C,enableAttribute:b,disableUnusedAttributes:D}}function Qw(i,e,t){let n;function r(h){n=h}function a(h,d){i.drawArrays(n,h,d),t.update(d,n,1)}function l(h,d,p){p!==0&&(i.drawArraysInstanced(n,h,d,p),t.update(d,n,p))}function c(h,d,p){if(p===0)return;e.get("WEBGL_multi_draw").multiDrawArraysWEBGL(n,h,0,d,0,p);let g=0;for(let v=0;v<p;v++)g+=d[v];t.update(g,n,1)}this.setMode=r,this.render=a,this.renderInstances=l,this.renderMultiDraw=c}function eM(i,e,t,n){let r;function a(){if(r!==void 0)return r;if(e.has("EXT_texture_filter_anisotropic")===!0){let E=e.get("EXT_texture_filter_anisotropic");r=i.getParameter(E.MAX_TEXTURE_MAX_ANISOTROPY_EXT)}else r=0;return r}function l(E){return!(E!==Ai&&n.convert(E)!==i.getParameter(i.IMPLEMENTATION_COLOR_READ_FORMAT))}function c(E){let N=E===Ti&&(e.has("EXT_color_buffer_half_float")||e.has("EXT_color_buffer_float"));return!(E!==Jn&&E!==mi&&!N&&n.convert(E)!==i.getParameter(i.IMPLEMENTATION_COLOR_READ_TYPE))}function h(E){if(E==="highp"){if(i.getShaderPrecisionFormat(i.VERTEX_SHADER,i.HIGH_FLOAT).precision>0&&i.getShaderPrecisionFormat(i.FRAGMENT_SHADER,i.HIGH_FLOAT).precision>0)return"highp";E="mediump"}return E==="mediump"&&i.getShaderPrecisionFormat(i.VERTEX_SHADER,i.MEDIUM_FLOAT).precision>0&&i.getShaderPrecisionFormat(i.FRAGMENT_SHADER,i.MEDIUM_FLOAT).precision>0?"mediump":"lowp"}let d=t.precision!==void 0?t.precision:"highp",p=h(d);p!==d&&(ht("WebGLRenderer:",d,"not supported, using",p,"instead."),d=p);let m=t.reversedDepthBuffer===!0&&e.has("EXT_clip_control"),g=t.logarithmicDepthBuffer===!0&&m===!1;t.reversedDepthBuffer===!0&&m===!1&&ht("WebGLRenderer: Unable to use reversed depth buffer due to missing EXT_clip_control extension. Fallback to default depth buffer."),t.logarithmicDepthBuffer===!0&&m===!0&&ht("WebGLRenderer: Logarithmic depth buffer is ignored when reversed depth buffer is enabled.");let v=i.getParameter(i.MAX_TEXTURE_IMAGE_UNITS),w=i.getParameter(i.MAX_VERTEX_TEXTURE_IMAGE_UNITS),C=i.getParameter(i.MAX_TEXTURE_SIZE),b=i.getParameter(i.MAX_CUBE_MAP_TEXTURE_SIZE),y=i.getParameter(i.MAX_VERTEX_ATTRIBS),D=i.getParameter(i.MAX_VERTEX_UNIFORM_VECTORS),U=i.getParameter(i.MAX_VARYING_VECTORS),F=i.getParameter(i.MAX_FRAGMENT_UNIFORM_VECTORS),k=i.getParameter(i.MAX_SAMPLES),L=i.getParameter(i.SAMPLES);return{isWebGL2:!0,getMaxAnisotropy:a,getMaxPrecision:h,textureFormatReadable:l,textureTypeReadable:c,precision:d,logarithmicDepthBuffer:g,reversedDepthBuffer:m,maxTextures:v,maxVertexTextures:w,maxTextureSize:C,maxCubemapSize:b,maxAttributes:y,maxVertexUniforms:D,maxVaryings:U,maxFragmentUniforms:F,maxSamples:k,samples:L}}function tM(i){let e=this,t=null,n=0,r=!1,a=!1,l=new ni,c=new yt,h={value:null,needsUpdate:!1};this.uniform=h,this.numPlanes=0,this.numIntersection=0,this.init=function(m,g){let v=m.length!==0||g||n!==0||r;return r=g,n=m.length,v},this.beginShadows=function(){a=!0,p(null)},this.endShadows=function(){a=!1},this.setGlobalState=function(m,g){t=p(m,g,0)},this.setState=function(m,g,v){let w=m.clippingPlanes,C=m.clipIntersection,b=m.clipShadows,y=i.get(m);if(!r||w===null||w.length===0||a&&!b)a?p(null):d();else{let D=a?0:n,U=D*4,F=y.clippingState||null;h.value=F,F=p(w,g,U,v);for(let k=0;k!==U;++k)F[k]=t[k];y.clippingState=F,this.numIntersection=C?this.numPlanes:0,this.numPlanes+=D}};function d(){h.value!==t&&(h.value=t,h.needsUpdate=n>0),e.numPlanes=n,e.numIntersection=0}function p(m,g,v,w){let C=m!==null?m.length:0,b=null;if(C!==0){if(b=h.value,w!==!0||b===null){let y=v+C*4,D=g.matrixWorldInverse;c.getNormalMatrix(D),(b===null||b.length<y)&&(b=new Float32Array(y));for(let U=0,F=v;U!==C;++U,F+=4)l.copy(m[U]).applyMatrix4(D,c),l.normal.toArray(b,F),b[F+3]=l.constant}h.value=b,h.needsUpdate=!0}return e.numPlanes=C,e.numIntersection=0,b}}var ro=class extends ii{constructor(e=1,t={}){super(e,e,t),this.isWebGLCubeRenderTarget=!0;let n={width:e,height:e,depth:1},r=[n,n,n,n,n,n];this.texture=new Ua(r),this._setTextureOptions(t),this.texture.isRenderTargetTexture=!0}fromEquirectangularTexture(e,t){this.texture.type=t.type,this.texture.colorSpace=t.colorSpace,this.texture.generateMipmaps=t.generateMipmaps,this.texture.minFilter=t.minFilter,this.texture.magFilter=t.magFilter;let n={uniforms:{tEquirect:{value:null}},vertexShader:`

				varying vec3 vWorldDirection;

				vec3 transformDirection( in vec3 dir, in mat4 matrix ) {

					return normalize( ( matrix * vec4( dir, 0.0 ) ).xyz );

				}

				void main() {

					vWorldDirection = transformDirection( position, modelMatrix );

					#include <begin_vertex>
					#include <project_vertex>

				}
			`,fragmentShader:`

				uniform sampler2D tEquirect;

				varying vec3 vWorldDirection;

				#include <common>

				void main() {

					vec3 direction = normalize( vWorldDirection );

					vec2 sampleUV = equirectUv( direction );

					gl_FragColor = texture2D( tEquirect, sampleUV );

				}
			`},r=new wr(5,5,5),a=new Ui({name:"CubemapFromEquirect",uniforms:Yr(n.uniforms),vertexShader:n.vertexShader,fragmentShader:n.fragmentShader,side:Xn,blending:$r});a.uniforms.tEquirect.value=t;let l=new Un(r,a),c=t.minFilter;return t.minFilter===rr&&(t.minFilter=Hn),new zs(1,10,this).update(e,l),t.minFilter=c,l.geometry.dispose(),l.material.dispose(),this}clear(e,t=!0,n=!0,r=!0){let a=e.getRenderTarget();for(let l=0;l<6;l++)e.setRenderTarget(this,l),e.clear(t,n,r);e.setRenderTarget(a)}},Up=256,nM=3,iM=20,sm=256,am=16,rM=3,sM=new re,aM=new wt,Ac=class i{constructor(e){this._renderer=e,this._cubeSize=0,this._sourceTarget=null,this._cubeCamera=new zs(1,10,null),this._boxMesh=new Un(new wr(5,5,5),null),this._cubemapMaterial=null,this._equirectMaterial=null,this._blurMaterial=null,this._ggxMaterial=null,this._integrationMaterial=null}fromScene(e,t=0,n=.1,r=100,a={}){let{size:l=256,position:c=sM}=a,h=this._renderer;this._setSize(l);let d=this._allocateTarget(),p=this._getSourceTarget(!0);t>0&&(p.texture.mipmapsAutoUpdate=!1);let m=h.autoClear,g=h.autoClearColor,v=h.autoClearDepth,w=h.autoClearStencil,C=e.background;h.autoClear=!0,h.autoClearColor=!0,h.autoClearDepth=!0,h.autoClearStencil=!0,C===null&&(e.background=h.getClearColor(aM));let b=new zs(n,r,p);return b.position.copy(c),b.update(h,e),h.autoClear=m,h.autoClearColor=g,h.autoClearDepth=v,h.autoClearStencil=w,e.background=C,t>0&&(p.texture.mipmapsAutoUpdate=!0,this._blur(d,t)),this._applyPMREM(d),d}fromEquirectangular(e,t=null){return this._fromTexture(e,t)}fromCubemap(e,t=null){return this._fromTexture(e,t)}compileCubemapShader(){this._cubemapMaterial===null&&(this._cubemapMaterial=kp(),this._compileMaterial(this._cubemapMaterial))}compileEquirectangularShader(){this._equirectMaterial===null&&(this._equirectMaterial=Bp(),this._compileMaterial(this._equirectMaterial))}dispose(){this._sourceTarget!==null&&this._sourceTarget.dispose(),this._cubemapMaterial!==null&&this._cubemapMaterial.dispose(),this._equirectMaterial!==null&&this._equirectMaterial.dispose(),this._blurMaterial!==null&&this._blurMaterial.dispose(),this._ggxMaterial!==null&&this._ggxMaterial.dispose(),this._integrationMaterial!==null&&this._integrationMaterial.dispose(),this._boxMesh.geometry.dispose()}static lodToRoughness(e,t){return t>0?1-Math.sqrt(1-e/t):0}_setSize(e){this._cubeSize=Math.max(Up,Dh(e))}_fromTexture(e,t){e.mapping===qr||e.mapping===Ws?this._setSize(e.image.length===0?Up:e.image[0].width||e.image[0].image.width):this._setSize(e.image.width/4);let n=t||this._allocateTarget();return this._textureToCubemap(e),this._applyPMREM(n),n}_allocateTarget(){let e=this._cubeSize,t=Op(e,!1,!1),n=Math.log2(e)-nM;for(let r=0;r<=n;r++)t.texture.mipmaps.push({width:e>>r,height:e>>r});return t.texture.name="PMREM",t.texture.isPMREMTexture=!0,t}_getSourceTarget(e=!1){let t=this._cubeSize,n=this._sourceTarget;return(n===null||n.width!==t||e&&n.depthBuffer===!1)&&(n!==null&&n.dispose(),this._sourceTarget=Op(t,!0,e)),this._sourceTarget}_compileMaterial(e){this._boxMesh.material=e,this._renderer.compile(this._boxMesh,this._cubeCamera.children[0])}_renderCube(e,t,n){let r=this._boxMesh,a=this._cubeCamera;r.material=n,a.renderTarget=e,a.activeMipmapLevel=t;let l=e.width>>t;e.viewport.set(0,0,l,l),a.update(this._renderer,r),e.viewport.set(0,0,e.width,e.height)}_textureToCubemap(e){let t;e.mapping===qr||e.mapping===Ws?(this._cubemapMaterial===null&&(this._cubemapMaterial=kp()),t=this._cubemapMaterial,t.uniforms.flipEnvMap.value=e.isRenderTargetTexture===!1?-1:1):(this._equirectMaterial===null&&(this._equirectMaterial=Bp()),t=this._equirectMaterial),t.uniforms.envMap.value=e,this._renderCube(this._getSourceTarget(),0,t)}_applyPMREM(e){this._ggxMaterial===null&&(this._ggxMaterial=oM(),this._integrationMaterial=lM());let t=this._cubeSize,n=e.texture.mipmaps.length-1,r=this._ggxMaterial.uniforms;r.envMap.value=this._sourceTarget.texture;let a=this._integrationMaterial.uniforms;a.envMap.value=this._sourceTarget.texture,a.sourceLod.value=Math.log2(t/am);for(let l=0;l<=n;l++){let c=i.lodToRoughness(l,n);if(l>n-rM)a.roughness.value=c,this._renderCube(e,l,this._integrationMaterial);else{let h=c>0?Math.log2(t)+.5*Math.log2(6/(sm*Math.pow(c,4)))+.5:0;r.roughness.value=c,r.lodBias.value=h,this._renderCube(e,l,this._ggxMaterial)}}}_blur(e,t){this._blurMaterial===null&&(this._blurMaterial=cM());let n=this._blurMaterial,r=n.uniforms,a=this._sourceTarget;r.sigma.value=Math.min(t,Math.PI)/Math.SQRT2,r.envMap.value=a.texture,this._renderCube(e,0,n),r.envMap.value=e.texture,this._renderCube(a,0,n)}};function Op(i,e,t){return new ro(i,{minFilter:rr,generateMipmaps:e,type:Ti,colorSpace:wa,depthBuffer:t})}function so(i,e,t){return new Ui({name:i,uniforms:e,vertexShader:Ct.cube_vert,fragmentShader:t,side:Xn,blending:$r,depthTest:!1,depthWrite:!1})}function oM(){return so("PMREMGGXConvolution",{envMap:{value:null},roughness:{value:0},lodBias:{value:0}},`

		#define GGX_SAMPLES ${sm}u

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float roughness;
		uniform float lodBias;

		#include <common>

		// Van der Corput radical inverse
		float radicalInverse_VdC( uint bits ) {

			bits = ( bits << 16u ) | ( bits >> 16u );
			bits = ( ( bits & 0x55555555u ) << 1u ) | ( ( bits & 0xAAAAAAAAu ) >> 1u );
			bits = ( ( bits & 0x33333333u ) << 2u ) | ( ( bits & 0xCCCCCCCCu ) >> 2u );
			bits = ( ( bits & 0x0F0F0F0Fu ) << 4u ) | ( ( bits & 0xF0F0F0F0u ) >> 4u );
			bits = ( ( bits & 0x00FF00FFu ) << 8u ) | ( ( bits & 0xFF00FF00u ) >> 8u );
			return float( bits ) * 2.3283064365386963e-10; // / 0x100000000

		}

		// Hammersley sequence
		vec2 hammersley( uint i, uint N ) {

			return vec2( float( i ) / float( N ), radicalInverse_VdC( i ) );

		}

		void main() {

			vec3 N = normalize( vWorldDirection );

			// For very low roughness, just sample the environment directly
			if ( roughness < 0.001 ) {

				gl_FragColor = vec4( textureLod( envMap, N, 0.0 ).rgb, 1.0 );
				return;

			}

			float alpha = roughness * roughness;
			float alpha2 = alpha * alpha;

			// Tangent space basis for VNDF sampling
			vec3 up = abs( N.z ) < 0.999 ? vec3( 0.0, 0.0, 1.0 ) : vec3( 1.0, 0.0, 0.0 );
			vec3 tangent = normalize( cross( up, N ) );
			vec3 bitangent = cross( N, tangent );

			vec3 prefilteredColor = vec3( 0.0 );
			float totalWeight = 0.0;

			for ( uint i = 0u; i < GGX_SAMPLES; i ++ ) {

				vec2 Xi = hammersley( i, GGX_SAMPLES );

				// With V = N, sample the reflected direction directly.
				float invQ = 1.0 / ( 1.0 - Xi.x + alpha2 * Xi.x );
				float NdotL = ( 1.0 - Xi.x - alpha2 * Xi.x ) * invQ;

				if ( NdotL > 0.0 ) {

					float phi = 2.0 * PI * Xi.y;
					float sinTheta = 2.0 * alpha * sqrt( Xi.x * ( 1.0 - Xi.x ) ) * invQ;
					vec3 L = N * NdotL + ( tangent * cos( phi ) + bitangent * sin( phi ) ) * sinTheta;

					// Match the source mip to the sample's solid angle. The terms
					// independent of the sample are precomputed in lodBias.
					float d = alpha2 * invQ;
					float lod = max( log2( d ) + lodBias, 0.0 );

					// Weight by NdotL for the split-sum approximation
					prefilteredColor += textureLod( envMap, L, lod ).rgb * NdotL;
					totalWeight += NdotL;

				}

			}

			gl_FragColor = vec4( prefilteredColor / totalWeight, 1.0 );

		}
	`)}function lM(){return so("PMREMGGXIntegration",{envMap:{value:null},roughness:{value:0},sourceLod:{value:0},sourceSize:{value:am}},`

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float roughness;
		uniform float sourceLod;
		uniform int sourceSize;

		void main() {

			vec3 N = normalize( vWorldDirection );

			float alpha = roughness * roughness;
			float alpha2 = alpha * alpha;

			float texelSize = 2.0 / float( sourceSize );

			vec3 prefilteredColor = vec3( 0.0 );
			float totalWeight = 0.0;

			// Pair opposite texels: only the one in N's hemisphere contributes.
			for ( int face = 0; face < 3; face ++ ) {

				for ( int y = 0; y < sourceSize; y ++ ) {

					for ( int x = 0; x < sourceSize; x ++ ) {

						vec2 uv = ( vec2( x, y ) + 0.5 ) * texelSize - 1.0;
						vec3 texelDirection = face == 0 ? vec3( 1.0, uv ) : ( face == 1 ? vec3( uv.x, 1.0, uv.y ) : vec3( uv, 1.0 ) );

						float invDistance = inversesqrt( 1.0 + dot( uv, uv ) );
						float NdotL = dot( N, texelDirection );
						texelDirection *= NdotL < 0.0 ? - 1.0 : 1.0;
						NdotL = abs( NdotL ) * invDistance;

						// With V = N, NdotH squared is ( 1 + NdotL ) / 2. Common factors
						// in the GGX distribution and texel solid angle cancel when normalized.
						float d = 1.0 + alpha2 + ( alpha2 - 1.0 ) * NdotL;
						float weight = NdotL * invDistance * invDistance * invDistance / ( d * d );

						prefilteredColor += textureLod( envMap, texelDirection, sourceLod ).rgb * weight;
						totalWeight += weight;

					}

				}

			}

			gl_FragColor = vec4( prefilteredColor / totalWeight, 1.0 );

		}
	`)}function cM(){return so("PMREMSphericalGaussianBlur",{envMap:{value:null},sigma:{value:0}},`

		#define SAMPLES ${iM}
		#define GOLDEN_ANGLE 2.39996322973

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float sigma;

		#include <common>

		void main() {

			vec3 outputDirection = normalize( vWorldDirection );

			vec3 up = abs( outputDirection.z ) < 0.999 ? vec3( 0.0, 0.0, 1.0 ) : vec3( 1.0, 0.0, 0.0 );
			vec3 tangent = normalize( cross( up, outputDirection ) );
			vec3 bitangent = cross( outputDirection, tangent );

			// Truncate the kernel at three standard deviations or at the antipode.
			float thetaMax = min( 3.0 * sigma, PI );
			float truncation = 1.0 - exp( - 0.5 * thetaMax * thetaMax / ( sigma * sigma ) );

			vec3 accumColor = vec3( 0.0 );
			float accumWeight = 0.0;

			for ( int i = 0; i < SAMPLES; i ++ ) {

				// Stratified inverse-CDF sampling of the Gaussian, placed on a golden-angle spiral.
				float stratum = ( float( i ) + 0.5 ) / float( SAMPLES );
				float theta = sigma * sqrt( - 2.0 * log( 1.0 - stratum * truncation ) );
				float phi = float( i ) * GOLDEN_ANGLE;

				vec3 offset = cos( phi ) * tangent + sin( phi ) * bitangent;
				vec3 sampleDirection = cos( theta ) * outputDirection + sin( theta ) * offset;

				// Correct the planar sample density to solid angle.
				float weight = sin( theta ) / theta;

				accumColor += weight * textureLod( envMap, sampleDirection, 0.0 ).rgb;
				accumWeight += weight;

			}

			gl_FragColor = vec4( accumColor / accumWeight, 1.0 );

		}
	`)}function Bp(){return so("PMREMEquirectangularToCubemap",{envMap:{value:null}},`

		varying vec3 vWorldDirection;

		uniform sampler2D envMap;

		#include <common>

		void main() {

			// Average four subpixel samples to preserve small, bright features.
			vec3 direction = normalize( vWorldDirection );
			vec3 dx = dFdx( direction ) * 0.25;
			vec3 dy = dFdy( direction ) * 0.25;

			vec3 color = textureLod( envMap, equirectUv( normalize( direction - dx - dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction + dx - dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction - dx + dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction + dx + dy ) ), 0.0 ).rgb;
			gl_FragColor = vec4( color * 0.25, 1.0 );

		}
	`)}function kp(){return so("PMREMCubemapToCubemap",{envMap:{value:null},flipEnvMap:{value:-1}},`

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float flipEnvMap;

		void main() {

			gl_FragColor = vec4( textureCube( envMap, vec3( flipEnvMap * vWorldDirection.x, vWorldDirection.yz ) ).rgb, 1.0 );

		}
	`)}function uM(i){let e=new WeakMap,t=new WeakMap,n=null;function r(g,v=!1){return g==null?null:v?l(g):a(g)}function a(g){if(g&&g.isTexture){let v=g.mapping;if(v===Bl||v===kl)if(e.has(g)){let w=e.get(g).texture;return c(w,g.mapping)}else{let w=g.image;if(w&&w.height>0){let C=new ro(w.height);return C.fromEquirectangularTexture(i,g),e.set(g,C),g.addEventListener("dispose",d),c(C.texture,g.mapping)}else return null}}return g}function l(g){if(g&&g.isTexture&&g.isPMREMTexture!==!0){let v=g.mapping,w=v===Bl||v===kl,C=v===qr||v===Ws;if(w||C){let b=t.get(g),y=b!==void 0?b.texture.pmremVersion:0;if(g.isRenderTargetTexture&&g.pmremVersion!==y)return n===null&&(n=new Ac(i)),b=w?n.fromEquirectangular(g,b):n.fromCubemap(g,b),b.texture.pmremVersion=g.pmremVersion,t.set(g,b),b.texture;if(b!==void 0)return b.texture;{let D=g.image;return w&&D&&D.height>0||C&&D&&h(D)?(n===null&&(n=new Ac(i)),b=w?n.fromEquirectangular(g):n.fromCubemap(g),b.texture.pmremVersion=g.pmremVersion,t.set(g,b),g.addEventListener("dispose",p),b.texture):null}}}return g}function c(g,v){return v===Bl?g.mapping=qr:v===kl&&(g.mapping=Ws),g}function h(g){let v=0,w=6;for(let C=0;C<w;C++)g[C]!==void 0&&v++;return v===w}function d(g){let v=g.target;v.removeEventListener("dispose",d);let w=e.get(v);w!==void 0&&(e.delete(v),w.dispose())}function p(g){let v=g.target;v.removeEventListener("dispose",p);let w=t.get(v);w!==void 0&&(t.delete(v),w.dispose())}function m(){e=new WeakMap,t=new WeakMap,n!==null&&(n.dispose(),n=null)}return{get:r,dispose:m}}function hM(i){let e={};function t(n){if(e[n]!==void 0)return e[n];let r=i.getExtension(n);return e[n]=r,r}return{has:function(n){return t(n)!==null},init:function(){t("EXT_color_buffer_float"),t("WEBGL_clip_cull_distance"),t("OES_texture_float_linear"),t("EXT_color_buffer_half_float"),t("WEBGL_multisampled_render_to_texture"),t("WEBGL_render_shared_exponent")},get:function(n){let r=t(n);return r===null&&ya("WebGLRenderer: "+n+" extension not supported."),r}}}function dM(i,e,t,n){let r={},a=new WeakMap,l=new FinalizationRegistry(w=>delete r[w]);function c(w){h(w.target)}function h(w){w.index!==null&&e.remove(w.index);for(let b in w.attributes)e.remove(w.attributes[b]);w.removeEventListener("dispose",c),delete r[w.id],l.unregister(w);let C=a.get(w);C&&(e.remove(C),a.delete(w)),n.releaseStatesOfGeometry(w),w.isInstancedBufferGeometry===!0&&delete w._maxInstanceCount,t.memory.geometries--}function d(w,C){return r[C.id]!==void 0||(C.addEventListener("dispose",c),r[C.id]=new WeakRef(C),l.register(C,C.id,C),t.memory.geometries++),C}function p(w){let C=w.attributes;for(let b in C)e.update(C[b],i.ARRAY_BUFFER)}function m(w){let C=w.index,b=w.attributes.position,y=0;if(b===void 0)return;let D=C!==null?C.array.length:b.array.length/3-1,U=b.count>=65535?Pa:Ca,F=new U(Math.ceil(D/3)*6,1),k=F.array;if(C!==null){let E=C.array;y=C.version;for(let N=0,J=0;N<D;N+=3){let V=E[N+0],ee=E[N+1],q=E[N+2];k[J++]=V,k[J++]=ee,k[J++]=ee,k[J++]=q,k[J++]=q,k[J++]=V}}else{y=b.version;for(let E=0,N=0;E<D;E+=3){let J=E+0,V=E+1,ee=E+2;k[N++]=J,k[N++]=V,k[N++]=V,k[N++]=ee,k[N++]=ee,k[N++]=J}}F.version=y;let L=a.get(w);L&&e.remove(L),a.set(w,F)}function g(w){let C=a.get(w);if(C){let b=w.index;b!==null&&C.version<b.version&&m(w)}else m(w);return a.get(w)}function v(){for(let w in r){let C=r[w].deref();C!==void 0&&h(C)}}return{get:d,update:p,getWireframeAttribute:g,dispose:v}}function fM(i,e,t){let n;function r(m){n=m}let a,l;function c(m){a=m.type,l=m.bytesPerElement}function h(m,g){i.drawElements(n,g,a,m*l),t.update(g,n,1)}function d(m,g,v){v!==0&&(i.drawElementsInstanced(n,g,a,m*l,v),t.update(g,n,v))}function p(m,g,v){if(v===0)return;e.get("WEBGL_multi_draw").multiDrawElementsWEBGL(n,g,0,a,m,0,v);let C=0;for(let b=0;b<v;b++)C+=g[b];t.update(C,n,1)}this.setMode=r,this.setIndex=c,this.render=h,this.renderInstances=d,this.renderMultiDraw=p}function pM(i){let e={geometries:0,textures:0},t={frame:0,calls:0,triangles:0,points:0,lines:0};function n(a,l,c){switch(t.calls++,l){case i.TRIANGLES:t.triangles+=c*(a/3);break;case i.LINES:t.lines+=c*(a/2);break;case i.LINE_STRIP:t.lines+=c*(a-1);break;case i.LINE_LOOP:t.lines+=c*a;break;case i.POINTS:t.points+=c*a;break;default:pt("WebGLInfo: Unknown draw mode:",l);break}}function r(){t.calls=0,t.triangles=0,t.points=0,t.lines=0}return{memory:e,render:t,programs:null,autoReset:!0,reset:r,update:n}}function mM(i,e,t){let n=new WeakMap,r=new fn;function a(l,c,h){let d=l.morphTargetInfluences,p=c.morphAttributes.position||c.morphAttributes.normal||c.morphAttributes.color,m=p!==void 0?p.length:0,g=n.get(c);if(g===void 0||g.count!==m){let J=function(){E.dispose(),n.delete(c),c.removeEventListener("dispose",J)};g!==void 0&&g.texture.dispose();let v=c.morphAttributes.position!==void 0,w=c.morphAttributes.normal!==void 0,C=c.morphAttributes.color!==void 0,b=c.morphAttributes.position||[],y=c.morphAttributes.normal||[],D=c.morphAttributes.color||[],U=0;v===!0&&(U=1),w===!0&&(U=2),C===!0&&(U=3);let F=c.attributes.position.count*U,k=1;F>e.maxTextureSize&&(k=Math.ceil(F/e.maxTextureSize),F=e.maxTextureSize);let L=new Float32Array(F*k*4*m),E=new Ta(L,F,k,m);E.type=mi,E.needsUpdate=!0;let N=U*4;for(let V=0;V<m;V++){let ee=b[V],q=y[V],ne=D[V],X=F*k*4*V;for(let te=0;te<ee.count;te++){let H=te*N;v===!0&&(r.fromBufferAttribute(ee,te),L[X+H+0]=r.x,L[X+H+1]=r.y,L[X+H+2]=r.z,L[X+H+3]=0),w===!0&&(r.fromBufferAttribute(q,te),L[X+H+4]=r.x,L[X+H+5]=r.y,L[X+H+6]=r.z,L[X+H+7]=0),C===!0&&(r.fromBufferAttribute(ne,te),L[X+H+8]=r.x,L[X+H+9]=r.y,L[X+H+10]=r.z,L[X+H+11]=ne.itemSize===4?r.w:1)}}g={count:m,texture:E,size:new Lt(F,k)},n.set(c,g),c.addEventListener("dispose",J)}if(l.isInstancedMesh===!0&&l.morphTexture!==null)h.getUniforms().setValue(i,"morphTexture",l.morphTexture,t);else{let v=0;for(let C=0;C<d.length;C++)v+=d[C];let w=c.morphTargetsRelative?1:1-v;h.getUniforms().setValue(i,"morphTargetBaseInfluence",w),h.getUniforms().setValue(i,"morphTargetInfluences",d)}h.getUniforms().setValue(i,"morphTargetsTexture",g.texture,t),h.getUniforms().setValue(i,"morphTargetsTextureSize",g.size)}return{update:a}}function gM(i,e,t,n,r){let a=new WeakMap;function l(d){let p=r.render.frame,m=d.geometry,g=e.get(d,m);if(a.get(g)!==p&&(e.update(g),a.set(g,p)),d.isInstancedMesh&&(d.hasEventListener("dispose",h)===!1&&d.addEventListener("dispose",h),a.get(d)!==p&&(t.update(d.instanceMatrix,i.ARRAY_BUFFER),d.instanceColor!==null&&t.update(d.instanceColor,i.ARRAY_BUFFER),a.set(d,p))),d.isSkinnedMesh){let v=d.skeleton;a.get(v)!==p&&(v.update(),a.set(v,p))}return g}function c(){a=new WeakMap}function h(d){let p=d.target;p.removeEventListener("dispose",h),n.releaseStatesOfObject(p),t.remove(p.instanceMatrix),p.instanceColor!==null&&t.remove(p.instanceColor)}return{update:l,dispose:c}}var _M={[fh]:"LINEAR_TONE_MAPPING",[ph]:"REINHARD_TONE_MAPPING",[mh]:"CINEON_TONE_MAPPING",[gh]:"ACES_FILMIC_TONE_MAPPING",[vh]:"AGX_TONE_MAPPING",[yh]:"NEUTRAL_TONE_MAPPING",[_h]:"CUSTOM_TONE_MAPPING"};function vM(i,e,t,n,r,a){let l=new ii(e,t,{type:i,depthBuffer:r,stencilBuffer:a,samples:n?4:0,storeMultisampledDepthBuffer:!1,storeMultisampledStencilBuffer:!1,resolveDepthBuffer:!1,resolveStencilBuffer:!1}),c=null,h=null,d=null,p=new $n;p.setAttribute("position",new mn([-1,3,0,-1,-1,0,3,-1,0],3)),p.setAttribute("uv",new mn([0,2,0,0,2,0],2));let m=new wl({uniforms:{tDiffuse:{value:null}},vertexShader:`
			precision highp float;

			uniform mat4 modelViewMatrix;
			uniform mat4 projectionMatrix;

			attribute vec3 position;
			attribute vec2 uv;

			varying vec2 vUv;

			void main() {
				vUv = uv;
				gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 );
			}`,fragmentShader:`
			precision highp float;

			uniform sampler2D tDiffuse;

			varying vec2 vUv;

			#include <tonemapping_pars_fragment>
			#include <colorspace_pars_fragment>

			void main() {
				gl_FragColor = texture2D( tDiffuse, vUv );

				#ifdef LINEAR_TONE_MAPPING
					gl_FragColor.rgb = LinearToneMapping( gl_FragColor.rgb );
				#elif defined( REINHARD_TONE_MAPPING )
					gl_FragColor.rgb = ReinhardToneMapping( gl_FragColor.rgb );
				#elif defined( CINEON_TONE_MAPPING )
					gl_FragColor.rgb = CineonToneMapping( gl_FragColor.rgb );
				#elif defined( ACES_FILMIC_TONE_MAPPING )
					gl_FragColor.rgb = ACESFilmicToneMapping( gl_FragColor.rgb );
				#elif defined( AGX_TONE_MAPPING )
					gl_FragColor.rgb = AgXToneMapping( gl_FragColor.rgb );
				#elif defined( NEUTRAL_TONE_MAPPING )
					gl_FragColor.rgb = NeutralToneMapping( gl_FragColor.rgb );
				#elif defined( CUSTOM_TONE_MAPPING )
					gl_FragColor.rgb = CustomToneMapping( gl_FragColor.rgb );
				#endif

				#ifdef SRGB_TRANSFER
					gl_FragColor = sRGBTransferOETF( gl_FragColor );
				#endif
			}`,depthTest:!1,depthWrite:!1}),g=new Un(p,m),v=new $a(-1,1,1,-1,0,1),w=null,C=null,b=!1,y,D=null,U=[],F=!1;this.setSize=function(k,L){l.setSize(k,L),c!==null&&c.setSize(k,L),h!==null&&h.setSize(k,L);for(let E=0;E<U.length;E++){let N=U[E];N.setSize&&N.setSize(k,L)}},this.setEffects=function(k){U=k,F=U.length>0&&U[0].isRenderPass===!0;let L=l.width,E=l.height;U.length>0&&c===null&&(c=new ii(L,E,{type:Ti,depthBuffer:!1,stencilBuffer:!1}),h=new ii(L,E,{type:Ti,depthBuffer:!1,stencilBuffer:!1}));let N=r===!0&&U.some(J=>J.needsDepthTexture===!0);N!==(l.depthTexture!==null)&&(N===!0&&d===null&&(d=new ir(L,E),a===!0&&(d.format=sr,d.type=jr)),l.dispose(),l.depthTexture=N?d:null,l.resolveDepthBuffer=N,l.storeMultisampledDepthBuffer=N);for(let J=0;J<U.length;J++){let V=U[J];V.setSize&&V.setSize(L,E),N&&V.needsDepthTexture===!0&&V.setDepthTexture&&V.setDepthTexture(d)}},this.begin=function(k,L){if(b||k.toneMapping===Bi&&U.length===0)return!1;if(D=L,L!==null){let E=L.width,N=L.height;(l.width!==E||l.height!==N)&&this.setSize(E,N)}return F===!1&&k.setRenderTarget(l),y=k.toneMapping,k.toneMapping=Bi,!0},this.hasRenderPass=function(){return F},this.end=function(k,L){k.toneMapping=y,b=!0;let E=l,N=c;for(let J=0;J<U.length;J++){let V=U[J];V.enabled!==!1&&(V.render(k,N,E,L),V.needsSwap!==!1&&(E=N,N=N===c?h:c))}if(w!==k.outputColorSpace||C!==k.toneMapping){w=k.outputColorSpace,C=k.toneMapping,m.defines={},Ut.getTransfer(w)===Jt&&(m.defines.SRGB_TRANSFER="");let J=_M[C];J&&(m.defines[J]=""),m.needsUpdate=!0}m.uniforms.tDiffuse.value=E.texture,k.setRenderTarget(D),k.render(g,v),D=null,b=!1},this.isCompositing=function(){return b},this.dispose=function(){l.dispose(),c!==null&&c.dispose(),h!==null&&h.dispose(),p.dispose(),m.dispose()}}var om=new Wn,lm=new ir(1,1),cm=new Ba(1),um=new Ta,hm=new _l,dm=new Ua,zp=[],Gp=[],Vp=new Float32Array(16),Hp=new Float32Array(9),Wp=new Float32Array(4);function js(i,e,t){let n=i[0];if(n<=0||n>0)return i;let r=e*t,a=zp[r];if(a===void 0&&(a=new Float32Array(r),zp[r]=a),e!==0){n.toArray(a,0);for(let l=1,c=0;l!==e;++l)c+=t,i[l].toArray(a,c)}return a}function wn(i,e){if(i.length!==e.length)return!1;for(let t=0,n=i.length;t<n;t++)if(i[t]!==e[t])return!1;return!0}function Mn(i,e){for(let t=0,n=e.length;t<n;t++)i[t]=e[t]}function Cc(i,e){let t=Gp[e];t===void 0&&(t=new Int32Array(e),Gp[e]=t);for(let n=0;n!==e;++n)t[n]=i.allocateTextureUnit();return t}function yM(i,e){let t=this.cache;t[0]!==e&&(i.uniform1f(this.addr,e),t[0]=e)}function xM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y)&&(i.uniform2f(this.addr,e.x,e.y),t[0]=e.x,t[1]=e.y);else{if(wn(t,e))return;i.uniform2fv(this.addr,e),Mn(t,e)}}function bM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y||t[2]!==e.z)&&(i.uniform3f(this.addr,e.x,e.y,e.z),t[0]=e.x,t[1]=e.y,t[2]=e.z);else if(e.r!==void 0)(t[0]!==e.r||t[1]!==e.g||t[2]!==e.b)&&(i.uniform3f(this.addr,e.r,e.g,e.b),t[0]=e.r,t[1]=e.g,t[2]=e.b);else{if(wn(t,e))return;i.uniform3fv(this.addr,e),Mn(t,e)}}function SM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y||t[2]!==e.z||t[3]!==e.w)&&(i.uniform4f(this.addr,e.x,e.y,e.z,e.w),t[0]=e.x,t[1]=e.y,t[2]=e.z,t[3]=e.w);else{if(wn(t,e))return;i.uniform4fv(this.addr,e),Mn(t,e)}}function wM(i,e){let t=this.cache,n=e.elements;if(n===void 0){if(wn(t,e))return;i.uniformMatrix2fv(this.addr,!1,e),Mn(t,e)}else{if(wn(t,n))return;Wp.set(n),i.uniformMatrix2fv(this.addr,!1,Wp),Mn(t,n)}}function MM(i,e){let t=this.cache,n=e.elements;if(n===void 0){if(wn(t,e))return;i.uniformMatrix3fv(this.addr,!1,e),Mn(t,e)}else{if(wn(t,n))return;Hp.set(n),i.uniformMatrix3fv(this.addr,!1,Hp),Mn(t,n)}}function EM(i,e){let t=this.cache,n=e.elements;if(n===void 0){if(wn(t,e))return;i.uniformMatrix4fv(this.addr,!1,e),Mn(t,e)}else{if(wn(t,n))return;Vp.set(n),i.uniformMatrix4fv(this.addr,!1,Vp),Mn(t,n)}}function TM(i,e){let t=this.cache;t[0]!==e&&(i.uniform1i(this.addr,e),t[0]=e)}function AM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y)&&(i.uniform2i(this.addr,e.x,e.y),t[0]=e.x,t[1]=e.y);else{if(wn(t,e))return;i.uniform2iv(this.addr,e),Mn(t,e)}}function RM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y||t[2]!==e.z)&&(i.uniform3i(this.addr,e.x,e.y,e.z),t[0]=e.x,t[1]=e.y,t[2]=e.z);else{if(wn(t,e))return;i.uniform3iv(this.addr,e),Mn(t,e)}}function CM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y||t[2]!==e.z||t[3]!==e.w)&&(i.uniform4i(this.addr,e.x,e.y,e.z,e.w),t[0]=e.x,t[1]=e.y,t[2]=e.z,t[3]=e.w);else{if(wn(t,e))return;i.uniform4iv(this.addr,e),Mn(t,e)}}function PM(i,e){let t=this.cache;t[0]!==e&&(i.uniform1ui(this.addr,e),t[0]=e)}function IM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y)&&(i.uniform2ui(this.addr,e.x,e.y),t[0]=e.x,t[1]=e.y);else{if(wn(t,e))return;i.uniform2uiv(this.addr,e),Mn(t,e)}}function LM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y||t[2]!==e.z)&&(i.uniform3ui(this.addr,e.x,e.y,e.z),t[0]=e.x,t[1]=e.y,t[2]=e.z);else{if(wn(t,e))return;i.uniform3uiv(this.addr,e),Mn(t,e)}}function DM(i,e){let t=this.cache;if(e.x!==void 0)(t[0]!==e.x||t[1]!==e.y||t[2]!==e.z||t[3]!==e.w)&&(i.uniform4ui(this.addr,e.x,e.y,e.z,e.w),t[0]=e.x,t[1]=e.y,t[2]=e.z,t[3]=e.w);else{if(wn(t,e))return;i.uniform4uiv(this.addr,e),Mn(t,e)}}function Pc(i){return i.version===0&&(i.compareFunction=Ch,i.needsUpdate=!0),i}function FM(i,e,t){let n=this.cache,r=t.allocateTextureUnit();n[0]!==r&&(i.uniform1i(this.addr,r),n[0]=r);let a;this.type===i.SAMPLER_2D_SHADOW?a=Pc(lm):a=om,t.setTexture2D(e||a,r)}function NM(i,e,t){let n=this.cache,r=t.allocateTextureUnit();n[0]!==r&&(i.uniform1i(this.addr,r),n[0]=r),t.setTexture3D(e||hm,r)}function UM(i,e,t){let n=this.cache,r=t.allocateTextureUnit();n[0]!==r&&(i.uniform1i(this.addr,r),n[0]=r);let a;this.type===i.SAMPLER_CUBE_SHADOW?a=Pc(cm):a=dm,t.setTextureCube(e||a,r)}function OM(i,e,t){let n=this.cache,r=t.allocateTextureUnit();n[0]!==r&&(i.uniform1i(this.addr,r),n[0]=r),t.setTexture2DArray(e||um,r)}function BM(i){switch(i){case 5126:return yM;case 35664:return xM;case 35665:return bM;case 35666:return SM;case 35674:return wM;case 35675:return MM;case 35676:return EM;case 5124:case 35670:return TM;case 35667:case 35671:return AM;case 35668:case 35672:return RM;case 35669:case 35673:return CM;case 5125:return PM;case 36294:return IM;case 36295:return LM;case 36296:return DM;case 35678:case 36198:case 36298:case 36306:case 35682:return FM;case 35679:case 36299:case 36307:return NM;case 35680:case 36300:case 36308:case 36293:return UM;case 36289:case 36303:case 36311:case 36292:return OM}}function kM(i,e){i.uniform1fv(this.addr,e)}function zM(i,e){let t=js(e,this.size,2);i.uniform2fv(this.addr,t)}function GM(i,e){let t=js(e,this.size,3);i.uniform3fv(this.addr,t)}function VM(i,e){let t=js(e,this.size,4);i.uniform4fv(this.addr,t)}function HM(i,e){let t=js(e,this.size,4);i.uniformMatrix2fv(this.addr,!1,t)}function WM(i,e){let t=js(e,this.size,9);i.uniformMatrix3fv(this.addr,!1,t)}function $M(i,e){let t=js(e,this.size,16);i.uniformMatrix4fv(this.addr,!1,t)}function XM(i,e){i.uniform1iv(this.addr,e)}function qM(i,e){i.uniform2iv(this.addr,e)}function jM(i,e){i.uniform3iv(this.addr,e)}function YM(i,e){i.uniform4iv(this.addr,e)}function JM(i,e){i.uniform1uiv(this.addr,e)}function ZM(i,e){i.uniform2uiv(this.addr,e)}function KM(i,e){i.uniform3uiv(this.addr,e)}function QM(i,e){i.uniform4uiv(this.addr,e)}function eE(i,e,t){let n=this.cache,r=e.length,a=Cc(t,r);wn(n,a)||(i.uniform1iv(this.addr,a),Mn(n,a));let l;this.type===i.SAMPLER_2D_SHADOW?l=Pc(lm):l=om;for(let c=0;c!==r;++c)t.setTexture2D(e[c]||l,a[c])}function tE(i,e,t){let n=this.cache,r=e.length,a=Cc(t,r);wn(n,a)||(i.uniform1iv(this.addr,a),Mn(n,a));for(let l=0;l!==r;++l)t.setTexture3D(e[l]||hm,a[l])}function nE(i,e,t){let n=this.cache,r=e.length,a=Cc(t,r);wn(n,a)||(i.uniform1iv(this.addr,a),Mn(n,a));let l;this.type===i.SAMPLER_CUBE_SHADOW?l=Pc(cm):l=dm;for(let c=0;c!==r;++c)t.setTextureCube(e[c]||l,a[c])}function iE(i,e,t){let n=this.cache,r=e.length,a=Cc(t,r);wn(n,a)||(i.uniform1iv(this.addr,a),Mn(n,a));for(let l=0;l!==r;++l)t.setTexture2DArray(e[l]||um,a[l])}function rE(i){switch(i){case 5126:return kM;case 35664:return zM;case 35665:return GM;case 35666:return VM;case 35674:return HM;case 35675:return WM;case 35676:return $M;case 5124:case 35670:return XM;case 35667:case 35671:return qM;case 35668:case 35672:return jM;case 35669:case 35673:return YM;case 5125:return JM;case 36294:return ZM;case 36295:return KM;case 36296:return QM;case 35678:case 36198:case 36298:case 36306:case 35682:return eE;case 35679:case 36299:case 36307:return tE;case 35680:case 36300:case 36308:case 36293:return nE;case 36289:case 36303:case 36311:case 36292:return iE}}var Vh=class{constructor(e,t,n){this.id=e,this.addr=n,this.cache=[],this.type=t.type,this.setValue=BM(t.type)}},Hh=class{constructor(e,t,n){this.id=e,this.addr=n,this.cache=[],this.type=t.type,this.size=t.size,this.setValue=rE(t.type)}},Wh=class{constructor(e){this.id=e,this.seq=[],this.map={}}setValue(e,t,n){let r=this.seq;for(let a=0,l=r.length;a!==l;++a){let c=r[a];c.setValue(e,t[c.id],n)}}},zh=/(\w+)(\])?(\[|\.)?/g;function $p(i,e){i.seq.push(e),i.map[e.id]=e}function sE(i,e,t){let n=i.name,r=n.length;for(zh.lastIndex=0;;){let a=zh.exec(n),l=zh.lastIndex,c=a[1],h=a[2]==="]",d=a[3];if(h&&(c=c|0),d===void 0||d==="["&&l+2===r){$p(t,d===void 0?new Vh(c,i,e):new Hh(c,i,e));break}else{let m=t.map[c];m===void 0&&(m=new Wh(c),$p(t,m)),t=m}}}var qs=class{constructor(e,t){this.seq=[],this.map={};let n=e.getProgramParameter(t,e.ACTIVE_UNIFORMS);for(let l=0;l<n;++l){let c=e.getActiveUniform(t,l),h=e.getUniformLocation(t,c.name);sE(c,h,this)}let r=[],a=[];for(let l of this.seq)l.type===e.SAMPLER_2D_SHADOW||l.type===e.SAMPLER_CUBE_SHADOW||l.type===e.SAMPLER_2D_ARRAY_SHADOW?r.push(l):a.push(l);r.length>0&&(this.seq=r.concat(a))}setValue(e,t,n,r){let a=this.map[t];a!==void 0&&a.setValue(e,n,r)}setOptional(e,t,n){let r=t[n];r!==void 0&&this.setValue(e,n,r)}static upload(e,t,n,r){for(let a=0,l=t.length;a!==l;++a){let c=t[a],h=n[c.id];h.needsUpdate!==!1&&c.setValue(e,h.value,r)}}static seqWithValue(e,t){let n=[];for(let r=0,a=e.length;r!==a;++r){let l=e[r];l.id in t&&n.push(l)}return n}};function Xp(i,e,t){let n=i.createShader(e);return i.shaderSource(n,t),i.compileShader(n),n}var aE=37297,oE=0;function lE(i,e){let t=i.split(`
`),n=[],r=Math.max(e-6,0),a=Math.min(e+6,t.length);for(let l=r;l<a;l++){let c=l+1;n.push(`${c===e?">":" "} ${c}: ${t[l]}`)}return n.join(`
`)}var qp=new yt;function cE(i){Ut._getMatrix(qp,Ut.workingColorSpace,i);let e=`mat3( ${qp.elements.map(t=>t.toFixed(4))} )`;switch(Ut.getTransfer(i)){case Ma:return[e,"LinearTransferOETF"];case Jt:return[e,"sRGBTransferOETF"];default:return ht("WebGLProgram: Unsupported color space: ",i),[e,"LinearTransferOETF"]}}function jp(i,e,t){let n=i.getShaderParameter(e,i.COMPILE_STATUS),a=(i.getShaderInfoLog(e)||"").trim();if(n&&a==="")return"";let l=/ERROR: 0:(\d+)/.exec(a);if(l){let c=parseInt(l[1]);return t.toUpperCase()+`

`+a+`

`+lE(i.getShaderSource(e),c)}else return a}function uE(i,e){let t=cE(e);return[`vec4 ${i}( vec4 value ) {`,`	return ${t[1]}( vec4( ${t[0]} * value.rgb, value.a ) );`,"}"].join(`
`)}var hE={[fh]:"Linear",[ph]:"Reinhard",[mh]:"Cineon",[gh]:"ACESFilmic",[vh]:"AgX",[yh]:"Neutral",[_h]:"Custom"};function dE(i,e){let t=hE[e];return t===void 0?(ht("WebGLProgram: Unsupported toneMapping:",e),"vec3 "+i+"( vec3 color ) { return LinearToneMapping( color ); }"):"vec3 "+i+"( vec3 color ) { return "+t+"ToneMapping( color ); }"}var Tc=new re;function fE(){Ut.getLuminanceCoefficients(Tc);let i=Tc.x.toFixed(4),e=Tc.y.toFixed(4),t=Tc.z.toFixed(4);return["float luminance( const in vec3 rgb ) {",`	const vec3 weights = vec3( ${i}, ${e}, ${t} );`,"	return dot( weights, rgb );","}"].join(`
`)}function pE(i){return[i.extensionClipCullDistance?"#extension GL_ANGLE_clip_cull_distance : require":"",i.extensionMultiDraw?"#extension GL_ANGLE_multi_draw : require":""].filter(io).join(`
`)}function mE(i){let e=[];for(let t in i){let n=i[t];n!==!1&&e.push("#define "+t+" "+n)}return e.join(`
`)}function gE(i,e){let t={},n=i.getProgramParameter(e,i.ACTIVE_ATTRIBUTES);for(let r=0;r<n;r++){let a=i.getActiveAttrib(e,r),l=a.name,c=1;a.type===i.FLOAT_MAT2&&(c=2),a.type===i.FLOAT_MAT3&&(c=3),a.type===i.FLOAT_MAT4&&(c=4),t[l]={type:a.type,location:i.getAttribLocation(e,l),locationSize:c}}return t}function io(i){return i!==""}function Yp(i,e){let t=e.numSpotLightShadows+e.numSpotLightMaps-e.numSpotLightShadowsWithMaps;return i.replace(/NUM_SUN_LIGHTS/g,e.numSunLights).replace(/NUM_DIR_LIGHTS/g,e.numDirLights).replace(/NUM_SPOT_LIGHTS/g,e.numSpotLights).replace(/NUM_SPOT_LIGHT_MAPS/g,e.numSpotLightMaps).replace(/NUM_SPOT_LIGHT_COORDS/g,t).replace(/NUM_RECT_AREA_LIGHTS/g,e.numRectAreaLights).replace(/NUM_POINT_LIGHTS/g,e.numPointLights).replace(/NUM_HEMI_LIGHTS/g,e.numHemiLights).replace(/NUM_SUN_LIGHT_SHADOWS/g,e.numSunLightShadows).replace(/NUM_DIR_LIGHT_SHADOWS/g,e.numDirLightShadows).replace(/NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS/g,e.numSpotLightShadowsWithMaps).replace(/NUM_SPOT_LIGHT_SHADOWS/g,e.numSpotLightShadows).replace(/NUM_POINT_LIGHT_SHADOWS/g,e.numPointLightShadows).replace(/NUM_LIGHT_PROBE_GRIDS/g,e.numLightProbeGrids)}function Jp(i,e){return i.replace(/NUM_CLIPPING_PLANES/g,e.numClippingPlanes).replace(/UNION_CLIPPING_PLANES/g,e.numClippingPlanes-e.numClipIntersection)}var _E=/^[ \t]*#include +<([\w\d./]+)>/gm;function $h(i){return i.replace(_E,vE)}function vE(i,e){let t=Ct[e];if(t===void 0)throw new Error("THREE.WebGLProgram: Can not resolve #include <"+e+">");return $h(t)}var yE=/#pragma unroll_loop_start\s+for\s*\(\s*int\s+i\s*=\s*(\d+)\s*;\s*i\s*<\s*(\d+)\s*;\s*i\s*\+\+\s*\)\s*{([\s\S]+?)}\s+#pragma unroll_loop_end/g;function Zp(i){return i.replace(yE,xE)}function xE(i,e,t,n){let r="";for(let a=parseInt(e);a<parseInt(t);a++)r+=n.replace(/\[\s*i\s*\]/g,"[ "+a+" ]").replace(/UNROLLED_LOOP_INDEX/g,a);return r}function Kp(i){let e=`precision ${i.precision} float;
	precision ${i.precision} int;
	precision ${i.precision} sampler2D;
	precision ${i.precision} samplerCube;
	precision ${i.precision} sampler3D;
	precision ${i.precision} sampler2DArray;
	precision ${i.precision} sampler2DShadow;
	precision ${i.precision} samplerCubeShadow;
	precision ${i.precision} sampler2DArrayShadow;
	precision ${i.precision} isampler2D;
	precision ${i.precision} isampler3D;
	precision ${i.precision} isamplerCube;
	precision ${i.precision} isampler2DArray;
	precision ${i.precision} usampler2D;
	precision ${i.precision} usampler3D;
	precision ${i.precision} usamplerCube;
	precision ${i.precision} usampler2DArray;
	`;return i.precision==="highp"?e+=`
#define HIGH_PRECISION`:i.precision==="mediump"?e+=`
#define MEDIUM_PRECISION`:i.precision==="lowp"&&(e+=`
#define LOW_PRECISION`),e}var bE={[ja]:"SHADOWMAP_TYPE_PCF",[Vs]:"SHADOWMAP_TYPE_VSM"};function SE(i){return bE[i.shadowMapType]||"SHADOWMAP_TYPE_BASIC"}var wE={[Ws]:"ENVMAP_MODE_REFRACTION"};function ME(i){return i.envMap===!1?"ENVMAP_MODE_REFLECTION":wE[i.envMapMode]||"ENVMAP_MODE_REFLECTION"}var EE={[dh]:"ENVMAP_BLENDING_MULTIPLY",[pp]:"ENVMAP_BLENDING_MIX",[mp]:"ENVMAP_BLENDING_ADD"};function TE(i){return i.envMap===!1?"ENVMAP_BLENDING_NONE":EE[i.combine]||"ENVMAP_BLENDING_NONE"}function AE(i,e,t,n){let r=i.getContext(),a=t.defines,l=t.vertexShader,c=t.fragmentShader,h=SE(t),d=t.envMapPMREM===!0?"ENVMAP_TYPE_PMREM":"ENVMAP_TYPE_CUBE",p=ME(t),m=TE(t),g=pE(t),v=mE(a),w=r.createProgram(),C,b,y=t.glslVersion?"#version "+t.glslVersion+`
`:"";t.isRawShaderMaterial?(C=["#define SHADER_TYPE "+t.shaderType,"#define SHADER_NAME "+t.shaderName,v].filter(io).join(`
`),C.length>0&&(C+=`
`),b=["#define SHADER_TYPE "+t.shaderType,"#define SHADER_NAME "+t.shaderName,v].filter(io).join(`
`),b.length>0&&(b+=`
`)):(C=[Kp(t),"#define SHADER_TYPE "+t.shaderType,"#define SHADER_NAME "+t.shaderName,v,t.extensionClipCullDistance?"#define USE_CLIP_DISTANCE":"",t.batching?"#define USE_BATCHING":"",t.batchingColor?"#define USE_BATCHING_COLOR":"",t.instancing?"#define USE_INSTANCING":"",t.instancingColor?"#define USE_INSTANCING_COLOR":"",t.instancingMorph?"#define USE_INSTANCING_MORPH":"",t.useFog&&t.fog?"#define USE_FOG":"",t.useFog&&t.fogExp2?"#define FOG_EXP2":"",t.map?"#define USE_MAP":"",t.envMap?"#define USE_ENVMAP":"",t.envMap?"#define "+p:"",t.lightMap?"#define USE_LIGHTMAP":"",t.aoMap?"#define USE_AOMAP":"",t.bumpMap?"#define USE_BUMPMAP":"",t.normalMap?"#define USE_NORMALMAP":"",t.normalMapObjectSpace?"#define USE_NORMALMAP_OBJECTSPACE":"",t.normalMapTangentSpace?"#define USE_NORMALMAP_TANGENTSPACE":"",t.displacementMap?"#define USE_DISPLACEMENTMAP":"",t.emissiveMap?"#define USE_EMISSIVEMAP":"",t.anisotropy?"#define USE_ANISOTROPY":"",t.anisotropyMap?"#define USE_ANISOTROPYMAP":"",t.clearcoatMap?"#define USE_CLEARCOATMAP":"",t.clearcoatRoughnessMap?"#define USE_CLEARCOAT_ROUGHNESSMAP":"",t.clearcoatNormalMap?"#define USE_CLEARCOAT_NORMALMAP":"",t.diffuseRoughnessMap?"#define USE_DIFFUSE_ROUGHNESSMAP":"",t.iridescenceMap?"#define USE_IRIDESCENCEMAP":"",t.iridescenceThicknessMap?"#define USE_IRIDESCENCE_THICKNESSMAP":"",t.specularMap?"#define USE_SPECULARMAP":"",t.specularColorMap?"#define USE_SPECULAR_COLORMAP":"",t.specularIntensityMap?"#define USE_SPECULAR_INTENSITYMAP":"",t.roughnessMap?"#define USE_ROUGHNESSMAP":"",t.metalnessMap?"#define USE_METALNESSMAP":"",t.alphaMap?"#define USE_ALPHAMAP":"",t.alphaHash?"#define USE_ALPHAHASH":"",t.transmission?"#define USE_TRANSMISSION":"",t.transmissionMap?"#define USE_TRANSMISSIONMAP":"",t.thicknessMap?"#define USE_THICKNESSMAP":"",t.sheenColorMap?"#define USE_SHEEN_COLORMAP":"",t.sheenRoughnessMap?"#define USE_SHEEN_ROUGHNESSMAP":"",t.mapUv?"#define MAP_UV "+t.mapUv:"",t.alphaMapUv?"#define ALPHAMAP_UV "+t.alphaMapUv:"",t.lightMapUv?"#define LIGHTMAP_UV "+t.lightMapUv:"",t.aoMapUv?"#define AOMAP_UV "+t.aoMapUv:"",t.emissiveMapUv?"#define EMISSIVEMAP_UV "+t.emissiveMapUv:"",t.bumpMapUv?"#define BUMPMAP_UV "+t.bumpMapUv:"",t.normalMapUv?"#define NORMALMAP_UV "+t.normalMapUv:"",t.displacementMapUv?"#define DISPLACEMENTMAP_UV "+t.displacementMapUv:"",t.metalnessMapUv?"#define METALNESSMAP_UV "+t.metalnessMapUv:"",t.roughnessMapUv?"#define ROUGHNESSMAP_UV "+t.roughnessMapUv:"",t.anisotropyMapUv?"#define ANISOTROPYMAP_UV "+t.anisotropyMapUv:"",t.clearcoatMapUv?"#define CLEARCOATMAP_UV "+t.clearcoatMapUv:"",t.clearcoatNormalMapUv?"#define CLEARCOAT_NORMALMAP_UV "+t.clearcoatNormalMapUv:"",t.clearcoatRoughnessMapUv?"#define CLEARCOAT_ROUGHNESSMAP_UV "+t.clearcoatRoughnessMapUv:"",t.diffuseRoughnessMapUv?"#define DIFFUSE_ROUGHNESSMAP_UV "+t.diffuseRoughnessMapUv:"",t.iridescenceMapUv?"#define IRIDESCENCEMAP_UV "+t.iridescenceMapUv:"",t.iridescenceThicknessMapUv?"#define IRIDESCENCE_THICKNESSMAP_UV "+t.iridescenceThicknessMapUv:"",t.sheenColorMapUv?"#define SHEEN_COLORMAP_UV "+t.sheenColorMapUv:"",t.sheenRoughnessMapUv?"#define SHEEN_ROUGHNESSMAP_UV "+t.sheenRoughnessMapUv:"",t.specularMapUv?"#define SPECULARMAP_UV "+t.specularMapUv:"",t.specularColorMapUv?"#define SPECULAR_COLORMAP_UV "+t.specularColorMapUv:"",t.specularIntensityMapUv?"#define SPECULAR_INTENSITYMAP_UV "+t.specularIntensityMapUv:"",t.transmissionMapUv?"#define TRANSMISSIONMAP_UV "+t.transmissionMapUv:"",t.thicknessMapUv?"#define THICKNESSMAP_UV "+t.thicknessMapUv:"",t.vertexTangents&&t.flatShading===!1?"#define USE_TANGENT":"",t.vertexNormals?"#define HAS_NORMAL":"",t.vertexColors?"#define USE_COLOR":"",t.vertexAlphas?"#define USE_COLOR_ALPHA":"",t.vertexUv1s?"#define USE_UV1":"",t.vertexUv2s?"#define USE_UV2":"",t.vertexUv3s?"#define USE_UV3":"",t.pointsUvs?"#define USE_POINTS_UV":"",t.flatShading?"#define FLAT_SHADED":"",t.skinning?"#define USE_SKINNING":"",t.morphTargets?"#define USE_MORPHTARGETS":"",t.morphNormals&&t.flatShading===!1?"#define USE_MORPHNORMALS":"",t.morphColors?"#define USE_MORPHCOLORS":"",t.morphTargetsCount>0?"#define MORPHTARGETS_TEXTURE_STRIDE "+t.morphTextureStride:"",t.morphTargetsCount>0?"#define MORPHTARGETS_COUNT "+t.morphTargetsCount:"",t.doubleSided?"#define DOUBLE_SIDED":"",t.flipSided?"#define FLIP_SIDED":"",t.shadowMapEnabled?"#define USE_SHADOWMAP":"",t.shadowMapEnabled?"#define "+h:"",t.sizeAttenuation?"#define USE_SIZEATTENUATION":"",t.numLightProbes>0?"#define USE_LIGHT_PROBES":"",t.logarithmicDepthBuffer?"#define USE_LOGARITHMIC_DEPTH_BUFFER":"",t.reversedDepthBuffer?"#define USE_REVERSED_DEPTH_BUFFER":"","uniform mat4 modelMatrix;","uniform mat4 modelViewMatrix;","uniform mat4 projectionMatrix;","uniform mat4 viewMatrix;","uniform mat3 normalMatrix;","uniform vec3 cameraPosition;","uniform bool isOrthographic;","#ifdef USE_INSTANCING","	attribute mat4 instanceMatrix;","#endif","#ifdef USE_INSTANCING_COLOR","	attribute vec3 instanceColor;","#endif","#ifdef USE_INSTANCING_MORPH","	uniform sampler2D morphTexture;","#endif","attribute vec3 position;","attribute vec3 normal;","attribute vec2 uv;","#ifdef USE_UV1","	attribute vec2 uv1;","#endif","#ifdef USE_UV2","	attribute vec2 uv2;","#endif","#ifdef USE_UV3","	attribute vec2 uv3;","#endif","#ifdef USE_TANGENT","	attribute vec4 tangent;","#endif","#if defined( USE_COLOR_ALPHA )","	attribute vec4 color;","#elif defined( USE_COLOR )","	attribute vec3 color;","#endif","#ifdef USE_SKINNING","	attribute vec4 skinIndex;","	attribute vec4 skinWeight;","#endif",`
`].filter(io).join(`
`),b=[Kp(t),"#define SHADER_TYPE "+t.shaderType,"#define SHADER_NAME "+t.shaderName,v,t.useFog&&t.fog?"#define USE_FOG":"",t.useFog&&t.fogExp2?"#define FOG_EXP2":"",t.alphaToCoverage?"#define ALPHA_TO_COVERAGE":"",t.map?"#define USE_MAP":"",t.matcap?"#define USE_MATCAP":"",t.envMap?"#define USE_ENVMAP":"",t.envMap?"#define "+d:"",t.envMap?"#define "+p:"",t.envMap?"#define "+m:"",t.envMapPMREM?"#define ENVMAP_MAX_LOD "+t.envMapMaxLod+".0":"",t.envMapPMREM?"#define ENVMAP_SIZE "+t.envMapSize+".0":"",t.lightMap?"#define USE_LIGHTMAP":"",t.aoMap?"#define USE_AOMAP":"",t.bumpMap?"#define USE_BUMPMAP":"",t.normalMap?"#define USE_NORMALMAP":"",t.normalMapObjectSpace?"#define USE_NORMALMAP_OBJECTSPACE":"",t.normalMapTangentSpace?"#define USE_NORMALMAP_TANGENTSPACE":"",t.packedNormalMap?"#define USE_PACKED_NORMALMAP":"",t.emissiveMap?"#define USE_EMISSIVEMAP":"",t.anisotropy?"#define USE_ANISOTROPY":"",t.anisotropyMap?"#define USE_ANISOTROPYMAP":"",t.clearcoat?"#define USE_CLEARCOAT":"",t.clearcoatMap?"#define USE_CLEARCOATMAP":"",t.clearcoatRoughnessMap?"#define USE_CLEARCOAT_ROUGHNESSMAP":"",t.clearcoatNormalMap?"#define USE_CLEARCOAT_NORMALMAP":"",t.diffuseRoughness?"#define USE_DIFFUSE_ROUGHNESS":"",t.diffuseRoughnessMap?"#define USE_DIFFUSE_ROUGHNESSMAP":"",t.dispersion?"#define USE_DISPERSION":"",t.retroreflection?"#define USE_RETROREFLECTION":"",t.iridescence?"#define USE_IRIDESCENCE":"",t.iridescenceMap?"#define USE_IRIDESCENCEMAP":"",t.iridescenceThicknessMap?"#define USE_IRIDESCENCE_THICKNESSMAP":"",t.specularMap?"#define USE_SPECULARMAP":"",t.specularColorMap?"#define USE_SPECULAR_COLORMAP":"",t.specularIntensityMap?"#define USE_SPECULAR_INTENSITYMAP":"",t.roughnessMap?"#define USE_ROUGHNESSMAP":"",t.metalnessMap?"#define USE_METALNESSMAP":"",t.alphaMap?"#define USE_ALPHAMAP":"",t.alphaTest?"#define USE_ALPHATEST":"",t.alphaHash?"#define USE_ALPHAHASH":"",t.sheen?"#define USE_SHEEN":"",t.sheenColorMap?"#define USE_SHEEN_COLORMAP":"",t.sheenRoughnessMap?"#define USE_SHEEN_ROUGHNESSMAP":"",t.transmission?"#define USE_TRANSMISSION":"",t.transmissionMap?"#define USE_TRANSMISSIONMAP":"",t.thicknessMap?"#define USE_THICKNESSMAP":"",t.vertexTangents&&t.flatShading===!1?"#define USE_TANGENT":"",t.vertexColors||t.instancingColor?"#define USE_COLOR":"",t.vertexAlphas||t.batchingColor?"#define USE_COLOR_ALPHA":"",t.vertexUv1s?"#define USE_UV1":"",t.vertexUv2s?"#define USE_UV2":"",t.vertexUv3s?"#define USE_UV3":"",t.pointsUvs?"#define USE_POINTS_UV":"",t.gradientMap?"#define USE_GRADIENTMAP":"",t.flatShading?"#define FLAT_SHADED":"",t.doubleSided?"#define DOUBLE_SIDED":"",t.flipSided?"#define FLIP_SIDED":"",t.shadowMapEnabled?"#define USE_SHADOWMAP":"",t.shadowMapEnabled?"#define "+h:"",t.premultipliedAlpha?"#define PREMULTIPLIED_ALPHA":"",t.numLightProbes>0?"#define USE_LIGHT_PROBES":"",t.decodeVideoTexture?"#define DECODE_VIDEO_TEXTURE":"",t.decodeVideoTextureEmissive?"#define DECODE_VIDEO_TEXTURE_EMISSIVE":"",t.logarithmicDepthBuffer?"#define USE_LOGARITHMIC_DEPTH_BUFFER":"",t.reversedDepthBuffer?"#define USE_REVERSED_DEPTH_BUFFER":"","uniform mat4 viewMatrix;","uniform vec3 cameraPosition;","uniform bool isOrthographic;",t.toneMapping!==Bi?"#define TONE_MAPPING":"",t.toneMapping!==Bi?Ct.tonemapping_pars_fragment:"",t.toneMapping!==Bi?dE("toneMapping",t.toneMapping):"",t.dithering?"#define DITHERING":"",t.opaque?"#define OPAQUE":"",Ct.colorspace_pars_fragment,uE("linearToOutputTexel",t.outputColorSpace),fE(),t.useDepthPacking?"#define DEPTH_PACKING "+t.depthPacking:"",`
`].filter(io).join(`
`)),l=$h(l),l=Yp(l,t),l=Jp(l,t),c=$h(c),c=Yp(c,t),c=Jp(c,t),l=Zp(l),c=Zp(c),t.isRawShaderMaterial!==!0&&(y=`#version 300 es
`,C=[g,"#define attribute in","#define varying out","#define texture2D texture"].join(`
`)+`
`+C,b=["#define varying in",t.glslVersion===Ph?"":"layout(location = 0) out highp vec4 pc_fragColor;",t.glslVersion===Ph?"":"#define gl_FragColor pc_fragColor","#define gl_FragDepthEXT gl_FragDepth","#define texture2D texture","#define textureCube texture","#define texture2DProj textureProj","#define texture2DLodEXT textureLod","#define texture2DProjLodEXT textureProjLod","#define textureCubeLodEXT textureLod","#define texture2DGradEXT textureGrad","#define texture2DProjGradEXT textureProjGrad","#define textureCubeGradEXT textureGrad"].join(`
`)+`
`+b);let D=y+C+l,U=y+b+c,F=Xp(r,r.VERTEX_SHADER,D),k=Xp(r,r.FRAGMENT_SHADER,U);r.attachShader(w,F),r.attachShader(w,k),t.index0AttributeName!==void 0?r.bindAttribLocation(w,0,t.index0AttributeName):t.hasPositionAttribute===!0&&r.bindAttribLocation(w,0,"position"),r.linkProgram(w);function L(V){if(i.debug.checkShaderErrors){let ee=r.getProgramInfoLog(w)||"",q=r.getShaderInfoLog(F)||"",ne=r.getShaderInfoLog(k)||"",X=ee.trim(),te=q.trim(),H=ne.trim(),le=!0,be=!0;if(r.getProgramParameter(w,r.LINK_STATUS)===!1)if(le=!1,typeof i.debug.onShaderError=="function")i.debug.onShaderError(r,w,F,k);else{let ue=jp(r,F,"vertex"),$=jp(r,k,"fragment");pt("WebGLProgram: Shader Error "+r.getError()+" - VALIDATE_STATUS "+r.getProgramParameter(w,r.VALIDATE_STATUS)+`

Material Name: `+V.name+`
Material Type: `+V.type+`

Program Info Log: `+X+`
`+ue+`
`+$)}else X!==""?ht("WebGLProgram: Program Info Log:",X):(te===""||H==="")&&(be=!1);be&&(V.diagnostics={runnable:le,programLog:X,vertexShader:{log:te,prefix:C},fragmentShader:{log:H,prefix:b}})}r.deleteShader(F),r.deleteShader(k),E=new qs(r,w),N=gE(r,w)}let E;this.getUniforms=function(){return E===void 0&&L(this),E};let N;this.getAttributes=function(){return N===void 0&&L(this),N};let J=t.rendererExtensionParallelShaderCompile===!1;return this.isReady=function(){return J===!1&&(J=r.getProgramParameter(w,aE)),J},this.destroy=function(){n.releaseStatesOfProgram(this),r.deleteProgram(w),this.program=void 0},this.type=t.shaderType,this.name=t.shaderName,this.id=oE++,this.cacheKey=e,this.usedTimes=1,this.program=w,this.vertexShader=F,this.fragmentShader=k,this}var RE=0,Xh=class{constructor(){this.shaderCache=new Map,this.materialCache=new Map}update(e,t,n){let r=this._getShaderCacheForMaterial(e);return r.has(t)===!1&&(r.add(t),t.usedTimes++),r.has(n)===!1&&(r.add(n),n.usedTimes++),this}remove(e){let t=this.materialCache.get(e);for(let n of t)n.usedTimes--,n.usedTimes===0&&this.shaderCache.delete(n.code);return this.materialCache.delete(e),this}getVertexShaderStage(e){return this._getShaderStage(e.vertexShader)}getFragmentShaderStage(e){return this._getShaderStage(e.fragmentShader)}dispose(){this.shaderCache.clear(),this.materialCache.clear()}_getShaderCacheForMaterial(e){let t=this.materialCache,n=t.get(e);return n===void 0&&(n=new Set,t.set(e,n)),n}_getShaderStage(e){let t=this.shaderCache,n=t.get(e);return n===void 0&&(n=new qh(e),t.set(e,n)),n}},qh=class{constructor(e){this.id=RE++,this.code=e,this.usedTimes=0}};function CE(i){return i===Cr||i===eo||i===to}function PE(i,e,t,n,r,a){let l=new Bs,c=new Xh,h=new Set,d=[],p=new Map,m=n.logarithmicDepthBuffer,g={MeshDepthMaterial:"depth",MeshDistanceMaterial:"distance",MeshNormalMaterial:"normal",MeshBasicMaterial:"basic",MeshLambertMaterial:"lambert",MeshPhongMaterial:"phong",MeshToonMaterial:"toon",MeshStandardMaterial:"physical",MeshPhysicalMaterial:"physical",MeshMatcapMaterial:"matcap",LineBasicMaterial:"basic",LineDashedMaterial:"dashed",PointsMaterial:"points",ShadowMaterial:"shadow",SpriteMaterial:"sprite"};function v(E){return h.add(E),E===0?"uv":`uv${E}`}function w(E,N,J,V,ee,q){let ne=V.fog,X=ee.geometry,te=E.isMeshStandardMaterial||E.isMeshLambertMaterial||E.isMeshPhongMaterial?V.environment:null,H=E.isMeshStandardMaterial||E.isMeshLambertMaterial&&!E.envMap||E.isMeshPhongMaterial&&!E.envMap,le=e.get(E.envMap||te,H),be=g[E.type],ue=n.precision;E.precision!==null&&(ue=n.getMaxPrecision(E.precision),ue!==E.precision&&ht("WebGLProgram.getParameters:",E.precision,"not supported, using",ue,"instead."));let $=X.morphAttributes.position||X.morphAttributes.normal||X.morphAttributes.color,ye=$!==void 0?$.length:0,qe=0;X.morphAttributes.position!==void 0&&(qe=1),X.morphAttributes.normal!==void 0&&(qe=2),X.morphAttributes.color!==void 0&&(qe=3);let at,fe,He,Ie;if(be){let We=zi[be];at=We.vertexShader,fe=We.fragmentShader}else{at=E.vertexShader,fe=E.fragmentShader;let We=c.getVertexShaderStage(E),kt=c.getFragmentShaderStage(E);c.update(E,We,kt),He=We.id,Ie=kt.id}let Qe=i.getRenderTarget(),Ue=i.state.buffers.depth.getReversed(),Ke=ee.isInstancedMesh===!0,ct=ee.isBatchedMesh===!0,Oe=!!E.map,Dt=!!E.matcap,Bt=!!le,bt=Bt&&le.isPMREMTexture===!0,Ht=!!E.aoMap,mt=!!E.lightMap,Wt=!!E.bumpMap&&E.wireframe===!1,Et=!!E.normalMap,gn=!!E.displacementMap,ze=!!E.emissiveMap,nt=!!E.metalnessMap,yn=!!E.roughnessMap,rn=E.anisotropy>0,Y=E.clearcoat>0,ot=E.diffuseRoughness>0,$t=E.dispersion>0,Xt=E.retroreflectivity>0,Ge=E.iridescence>0,pn=E.sheen>0,it=E.transmission>0,lt=rn&&!!E.anisotropyMap,O=Y&&!!E.clearcoatMap,A=Y&&!!E.clearcoatNormalMap,ie=Y&&!!E.clearcoatRoughnessMap,we=ot&&!!E.diffuseRoughnessMap,ve=Ge&&!!E.iridescenceMap,Se=Ge&&!!E.iridescenceThicknessMap,Ae=pn&&!!E.sheenColorMap,de=pn&&!!E.sheenRoughnessMap,me=!!E.specularMap,ke=!!E.specularColorMap,W=!!E.specularIntensityMap,ge=it&&!!E.transmissionMap,he=it&&!!E.thicknessMap,Be=!!E.gradientMap,De=!!E.alphaMap,Fe=E.alphaTest>0,tt=!!E.alphaHash,gt=!!E.extensions,Re=Bi;E.toneMapped&&(Qe===null||Qe.isXRRenderTarget===!0)&&(Re=i.toneMapping);let rt=bt?le.isCompressedCubeTexture?le.image[0].mipmaps:le.mipmaps:null,_t={shaderID:be,shaderType:E.type,shaderName:E.name,vertexShader:at,fragmentShader:fe,defines:E.defines,customVertexShaderID:He,customFragmentShaderID:Ie,isRawShaderMaterial:E.isRawShaderMaterial===!0,glslVersion:E.glslVersion,precision:ue,batching:ct,batchingColor:ct&&ee._colorsTexture!==null,instancing:Ke,instancingColor:Ke&&ee.instanceColor!==null,instancingMorph:Ke&&ee.morphTexture!==null,outputColorSpace:Qe===null?i.outputColorSpace:Qe.isXRRenderTarget===!0?Qe.texture.colorSpace:Ut.workingColorSpace,alphaToCoverage:!!E.alphaToCoverage,map:Oe,matcap:Dt,envMap:Bt,envMapMode:Bt&&le.mapping,envMapPMREM:bt,envMapMaxLod:bt?rt.length-1:null,envMapSize:bt?rt[0].width:null,aoMap:Ht,lightMap:mt,bumpMap:Wt,normalMap:Et,displacementMap:gn,emissiveMap:ze,normalMapObjectSpace:Et&&E.normalMapType===vp,normalMapTangentSpace:Et&&E.normalMapType===Mc,packedNormalMap:Et&&E.normalMapType===Mc&&CE(E.normalMap.format),metalnessMap:nt,roughnessMap:yn,anisotropy:rn,anisotropyMap:lt,clearcoat:Y,clearcoatMap:O,clearcoatNormalMap:A,clearcoatRoughnessMap:ie,diffuseRoughness:ot,diffuseRoughnessMap:we,dispersion:$t,retroreflection:Xt,iridescence:Ge,iridescenceMap:ve,iridescenceThicknessMap:Se,sheen:pn,sheenColorMap:Ae,sheenRoughnessMap:de,specularMap:me,specularColorMap:ke,specularIntensityMap:W,transmission:it,transmissionMap:ge,thicknessMap:he,gradientMap:Be,opaque:E.transparent===!1&&E.blending===Hs&&E.alphaToCoverage===!1,alphaMap:De,alphaTest:Fe,alphaHash:tt,combine:E.combine,mapUv:Oe&&v(E.map.channel),aoMapUv:Ht&&v(E.aoMap.channel),lightMapUv:mt&&v(E.lightMap.channel),bumpMapUv:Wt&&v(E.bumpMap.channel),normalMapUv:Et&&v(E.normalMap.channel),displacementMapUv:gn&&v(E.displacementMap.channel),emissiveMapUv:ze&&v(E.emissiveMap.channel),metalnessMapUv:nt&&v(E.metalnessMap.channel),roughnessMapUv:yn&&v(E.roughnessMap.channel),anisotropyMapUv:lt&&v(E.anisotropyMap.channel),clearcoatMapUv:O&&v(E.clearcoatMap.channel),clearcoatNormalMapUv:A&&v(E.clearcoatNormalMap.channel),clearcoatRoughnessMapUv:ie&&v(E.clearcoatRoughnessMap.channel),diffuseRoughnessMapUv:we&&v(E.diffuseRoughnessMap.channel),iridescenceMapUv:ve&&v(E.iridescenceMap.channel),iridescenceThicknessMapUv:Se&&v(E.iridescenceThicknessMap.channel),sheenColorMapUv:Ae&&v(E.sheenColorMap.channel),sheenRoughnessMapUv:de&&v(E.sheenRoughnessMap.channel),specularMapUv:me&&v(E.specularMap.channel),specularColorMapUv:ke&&v(E.specularColorMap.channel),specularIntensityMapUv:W&&v(E.specularIntensityMap.channel),transmissionMapUv:ge&&v(E.transmissionMap.channel),thicknessMapUv:he&&v(E.thicknessMap.channel),alphaMapUv:De&&v(E.alphaMap.channel),vertexTangents:!!X.attributes.tangent&&(Et||rn),vertexNormals:!!X.attributes.normal,vertexColors:E.vertexColors,vertexAlphas:E.vertexColors===!0&&!!X.attributes.color&&X.attributes.color.itemSize===4,pointsUvs:ee.isPoints===!0&&!!X.attributes.uv&&(Oe||De),fog:!!ne,useFog:E.fog===!0,fogExp2:!!ne&&ne.isFogExp2,flatShading:E.wireframe===!1&&(E.flatShading===!0||X.attributes.normal===void 0&&Et===!1&&(E.isMeshLambertMaterial||E.isMeshPhongMaterial||E.isMeshStandardMaterial||E.isMeshPhysicalMaterial)),sizeAttenuation:E.sizeAttenuation===!0,logarithmicDepthBuffer:m,reversedDepthBuffer:Ue,skinning:ee.isSkinnedMesh===!0,hasPositionAttribute:X.attributes.position!==void 0,morphTargets:X.morphAttributes.position!==void 0,morphNormals:X.morphAttributes.normal!==void 0,morphColors:X.morphAttributes.color!==void 0,morphTargetsCount:ye,morphTextureStride:qe,numSunLights:N.sun.length,numDirLights:N.directional.length,numPointLights:N.point.length,numSpotLights:N.spot.length,numSpotLightMaps:N.spotLightMap.length,numRectAreaLights:N.rectArea.length,numHemiLights:N.hemi.length,numSunLightShadows:N.sunShadowMap.length,numDirLightShadows:N.directionalShadowMap.length,numPointLightShadows:N.pointShadowMap.length,numSpotLightShadows:N.spotShadowMap.length,numSpotLightShadowsWithMaps:N.numSpotLightShadowsWithMaps,numLightProbes:N.numLightProbes,numLightProbeGrids:q.filter(We=>We.texture!==null).length,numClippingPlanes:a.numPlanes,numClipIntersection:a.numIntersection,dithering:E.dithering,shadowMapEnabled:i.shadowMap.enabled&&J.length>0,shadowMapType:i.shadowMap.type,toneMapping:Re,decodeVideoTexture:Oe&&E.map.isVideoTexture===!0&&Ut.getTransfer(E.map.colorSpace)===Jt,decodeVideoTextureEmissive:ze&&E.emissiveMap.isVideoTexture===!0&&Ut.getTransfer(E.emissiveMap.colorSpace)===Jt,premultipliedAlpha:E.premultipliedAlpha,doubleSided:E.side===Oi,flipSided:E.side===Xn,useDepthPacking:E.depthPacking>=0,depthPacking:E.depthPacking||0,index0AttributeName:E.index0AttributeName,extensionClipCullDistance:gt&&E.extensions.clipCullDistance===!0&&t.has("WEBGL_clip_cull_distance"),extensionMultiDraw:(gt&&E.extensions.multiDraw===!0||ct)&&t.has("WEBGL_multi_draw"),rendererExtensionParallelShaderCompile:t.has("KHR_parallel_shader_compile"),customProgramCacheKey:E.customProgramCacheKey()};return _t.vertexUv1s=h.has(1),_t.vertexUv2s=h.has(2),_t.vertexUv3s=h.has(3),h.clear(),_t}function C(E){let N=[];if(E.shaderID?N.push(E.shaderID):(N.push(E.customVertexShaderID),N.push(E.customFragmentShaderID)),E.defines!==void 0)for(let J in E.defines)N.push(J),N.push(E.defines[J]);return E.isRawShaderMaterial===!1&&(b(N,E),y(N,E),N.push(i.outputColorSpace)),N.push(E.customProgramCacheKey),N.join()}function b(E,N){E.push(N.precision),E.push(N.outputColorSpace),E.push(N.envMapMode),E.push(N.envMapPMREM),E.push(N.envMapMaxLod),E.push(N.envMapSize),E.push(N.mapUv),E.push(N.alphaMapUv),E.push(N.lightMapUv),E.push(N.aoMapUv),E.push(N.bumpMapUv),E.push(N.normalMapUv),E.push(N.displacementMapUv),E.push(N.emissiveMapUv),E.push(N.metalnessMapUv),E.push(N.roughnessMapUv),E.push(N.anisotropyMapUv),E.push(N.clearcoatMapUv),E.push(N.clearcoatNormalMapUv),E.push(N.clearcoatRoughnessMapUv),E.push(N.diffuseRoughnessMapUv),E.push(N.iridescenceMapUv),E.push(N.iridescenceThicknessMapUv),E.push(N.sheenColorMapUv),E.push(N.sheenRoughnessMapUv),E.push(N.specularMapUv),E.push(N.specularColorMapUv),E.push(N.specularIntensityMapUv),E.push(N.transmissionMapUv),E.push(N.thicknessMapUv),E.push(N.combine),E.push(N.fogExp2),E.push(N.sizeAttenuation),E.push(N.morphTargetsCount),E.push(N.numSunLights),E.push(N.numDirLights),E.push(N.numPointLights),E.push(N.numSpotLights),E.push(N.numSpotLightMaps),E.push(N.numHemiLights),E.push(N.numRectAreaLights),E.push(N.numSunLightShadows),E.push(N.numDirLightShadows),E.push(N.numPointLightShadows),E.push(N.numSpotLightShadows),E.push(N.numSpotLightShadowsWithMaps),E.push(N.numLightProbes),E.push(N.numLightProbeGrids),E.push(N.shadowMapType),E.push(N.toneMapping),E.push(N.numClippingPlanes),E.push(N.numClipIntersection),E.push(N.depthPacking)}function y(E,N){l.disableAll(),N.instancing&&l.enable(0),N.instancingColor&&l.enable(1),N.instancingMorph&&l.enable(2),N.matcap&&l.enable(3),N.envMap&&l.enable(4),N.normalMapObjectSpace&&l.enable(5),N.normalMapTangentSpace&&l.enable(6),N.clearcoat&&l.enable(7),N.iridescence&&l.enable(8),N.alphaTest&&l.enable(9),N.vertexColors&&l.enable(10),N.vertexAlphas&&l.enable(11),N.vertexUv1s&&l.enable(12),N.vertexUv2s&&l.enable(13),N.vertexUv3s&&l.enable(14),N.vertexTangents&&l.enable(15),N.anisotropy&&l.enable(16),N.alphaHash&&l.enable(17),N.batching&&l.enable(18),N.dispersion&&l.enable(19),N.retroreflection&&l.enable(24),N.diffuseRoughness&&l.enable(25),N.batchingColor&&l.enable(20),N.gradientMap&&l.enable(21),N.packedNormalMap&&l.enable(22),N.vertexNormals&&l.enable(23),E.push(l.mask),l.disableAll(),N.fog&&l.enable(0),N.useFog&&l.enable(1),N.flatShading&&l.enable(2),N.logarithmicDepthBuffer&&l.enable(3),N.reversedDepthBuffer&&l.enable(4),N.skinning&&l.enable(5),N.morphTargets&&l.enable(6),N.morphNormals&&l.enable(7),N.morphColors&&l.enable(8),N.premultipliedAlpha&&l.enable(9),N.shadowMapEnabled&&l.enable(10),N.doubleSided&&l.enable(11),N.flipSided&&l.enable(12),N.useDepthPacking&&l.enable(13),N.dithering&&l.enable(14),N.transmission&&l.enable(15),N.sheen&&l.enable(16),N.opaque&&l.enable(17),N.pointsUvs&&l.enable(18),N.decodeVideoTexture&&l.enable(19),N.decodeVideoTextureEmissive&&l.enable(20),N.alphaToCoverage&&l.enable(21),N.numLightProbeGrids>0&&l.enable(22),N.hasPositionAttribute&&l.enable(23),E.push(l.mask)}function D(E){let N=g[E.type],J;if(N){let V=zi[N];J=Dp.clone(V.uniforms)}else J=E.uniforms;return J}function U(E,N){let J=p.get(N);return J!==void 0?++J.usedTimes:(J=new AE(i,N,E,r),d.push(J),p.set(N,J)),J}function F(E){if(--E.usedTimes===0){let N=d.indexOf(E);d[N]=d[d.length-1],d.pop(),p.delete(E.cacheKey),E.destroy()}}function k(E){c.remove(E)}function L(){c.dispose()}return{getParameters:w,getProgramCacheKey:C,getUniforms:D,acquireProgram:U,releaseProgram:F,releaseShaderCache:k,programs:d,dispose:L}}function IE(){let i=new WeakMap;function e(l){return i.has(l)}function t(l){let c=i.get(l);return c===void 0&&(c={},i.set(l,c)),c}function n(l){i.delete(l)}function r(l,c,h){i.get(l)[c]=h}function a(){i=new WeakMap}return{has:e,get:t,remove:n,update:r,dispose:a}}function LE(i,e){return i.groupOrder!==e.groupOrder?i.groupOrder-e.groupOrder:i.renderOrder!==e.renderOrder?i.renderOrder-e.renderOrder:i.material.id!==e.material.id?i.material.id-e.material.id:i.materialVariant!==e.materialVariant?i.materialVariant-e.materialVariant:i.z!==e.z?i.z-e.z:i.id-e.id}function Qp(i,e){return i.groupOrder!==e.groupOrder?i.groupOrder-e.groupOrder:i.renderOrder!==e.renderOrder?i.renderOrder-e.renderOrder:i.z!==e.z?e.z-i.z:i.id-e.id}function em(){let i=[],e=0,t=[],n=[],r=[];function a(){e=0,t.length=0,n.length=0,r.length=0}function l(g){let v=0;return g.isInstancedMesh&&(v+=2),g.isSkinnedMesh&&(v+=1),v}function c(g,v,w,C,b,y){let D=i[e];return D===void 0?(D={id:g.id,object:g,geometry:v,material:w,materialVariant:l(g),groupOrder:C,renderOrder:g.renderOrder,z:b,group:y},i[e]=D):(D.id=g.id,D.object=g,D.geometry=v,D.material=w,D.materialVariant=l(g),D.groupOrder=C,D.renderOrder=g.renderOrder,D.z=b,D.group=y),e++,D}function h(g,v,w,C,b,y,D){D.reversedDepth===!0&&(b=-b);let U=c(g,v,w,C,b,y);w.transmission>0?n.push(U):w.transparent===!0?r.push(U):t.push(U)}function d(g,v,w,C,b,y){let D=c(g,v,w,C,b,y);w.transmission>0?n.unshift(D):w.transparent===!0?r.unshift(D):t.unshift(D)}function p(g,v){t.length>1&&t.sort(g||LE),n.length>1&&n.sort(v||Qp),r.length>1&&r.sort(v||Qp)}function m(){for(let g=e,v=i.length;g<v;g++){let w=i[g];if(w.id===null)break;w.id=null,w.object=null,w.geometry=null,w.material=null,w.group=null}}return{opaque:t,transmissive:n,transparent:r,init:a,push:h,unshift:d,finish:m,sort:p}}function DE(){let i=new WeakMap;function e(n,r){let a=i.get(n),l;return a===void 0?(l=new em,i.set(n,[l])):r>=a.length?(l=new em,a.push(l)):l=a[r],l}function t(){i=new WeakMap}return{get:e,dispose:t}}function FE(){let i={};return{get:function(e){if(i[e.id]!==void 0)return i[e.id];let t;switch(e.type){case"SunLight":case"DirectionalLight":t={direction:new re,color:new wt};break;case"SpotLight":t={position:new re,direction:new re,color:new wt,distance:0,coneCos:0,penumbraCos:0,decay:0};break;case"PointLight":t={position:new re,color:new wt,distance:0,decay:0};break;case"HemisphereLight":t={direction:new re,skyColor:new wt,groundColor:new wt};break;case"RectAreaLight":t={color:new wt,position:new re,halfWidth:new re,halfHeight:new re};break}return i[e.id]=t,t}}}function NE(){let i={};return{get:function(e){if(i[e.id]!==void 0)return i[e.id];let t;switch(e.type){case"SunLight":case"DirectionalLight":t={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new Lt};break;case"SpotLight":t={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new Lt};break;case"PointLight":t={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new Lt,shadowCameraNear:1,shadowCameraFar:1e3};break}return i[e.id]=t,t}}}var UE=0;function OE(i,e){return(e.castShadow?2:0)-(i.castShadow?2:0)+(e.map?1:0)-(i.map?1:0)}function BE(i){let e=new FE,t=NE(),n={version:0,hash:{sunLength:-1,directionalLength:-1,pointLength:-1,spotLength:-1,rectAreaLength:-1,hemiLength:-1,numSunShadows:-1,numDirectionalShadows:-1,numPointShadows:-1,numSpotShadows:-1,numSpotMaps:-1,numLightProbes:-1},ambient:[0,0,0],probe:[],sun:[],sunShadow:[],sunShadowMap:[],sunShadowMatrix:[],sunShadowCascade:[],directional:[],directionalShadow:[],directionalShadowMap:[],directionalShadowMatrix:[],spot:[],spotLightMap:[],spotShadow:[],spotShadowMap:[],spotLightMatrix:[],rectArea:[],rectAreaLTC1:null,rectAreaLTC2:null,point:[],pointShadow:[],pointShadowMap:[],pointShadowMatrix:[],hemi:[],numSpotLightShadowsWithMaps:0,numLightProbes:0};for(let d=0;d<9;d++)n.probe.push(new re);let r=new re,a=new Yt,l=new Yt;function c(d){let p=0,m=0,g=0;for(let q=0;q<9;q++)n.probe[q].set(0,0,0);let v=0,w=0,C=0,b=0,y=0,D=0,U=0,F=0,k=0,L=0,E=0,N=0,J=0,V=0;d.sort(OE);for(let q=0,ne=d.length;q<ne;q++){let X=d[q],te=X.color,H=X.intensity,le=X.distance,be=null;if(X.shadow&&X.shadow.map&&(X.shadow.map.texture.format===Cr?be=X.shadow.map.texture:be=X.shadow.map.depthTexture||X.shadow.map.texture),X.isAmbientLight)p+=te.r*H,m+=te.g*H,g+=te.b*H;else if(X.isLightProbe){for(let ue=0;ue<9;ue++)n.probe[ue].addScaledVector(X.sh.coefficients[ue],H);V++}else if(X.isSunLight){let ue=e.get(X);if(ue.color.copy(X.color).multiplyScalar(X.intensity),X.castShadow){let $=X.shadow,ye=t.get(X);ye.shadowIntensity=$.intensity,ye.shadowBias=$.bias,ye.shadowNormalBias=$.normalBias,ye.shadowRadius=$.radius,ye.shadowMapSize.copy($.mapSize).multiply($.getFrameExtents()),n.sunShadow[w]=ye,n.sunShadowMap[w]=be;let qe=$.getViewportCount();for(let at=0;at<qe;at++)n.sunShadowMatrix[C+at]=$.getMatrix(at),n.sunShadowCascade[C+at]=$._cascadeData[at];C+=qe,w++}n.sun[v]=ue,v++}else if(X.isDirectionalLight){let ue=e.get(X);if(ue.color.copy(X.color).multiplyScalar(X.intensity),X.castShadow){let $=X.shadow,ye=t.get(X);ye.shadowIntensity=$.intensity,ye.shadowBias=$.bias,ye.shadowNormalBias=$.normalBias,ye.shadowRadius=$.radius,ye.shadowMapSize=$.mapSize,n.directionalShadow[b]=ye,n.directionalShadowMap[b]=be,n.directionalShadowMatrix[b]=X.shadow.matrix,k++}n.directional[b]=ue,b++}else if(X.isSpotLight){let ue=e.get(X);ue.position.setFromMatrixPosition(X.matrixWorld),ue.color.copy(te).multiplyScalar(H),ue.distance=le,ue.coneCos=Math.cos(X.angle),ue.penumbraCos=Math.cos(X.angle*(1-X.penumbra)),ue.decay=X.decay,n.spot[D]=ue;let $=X.shadow;if(X.map&&(n.spotLightMap[N]=X.map,N++,$.updateMatrices(X),X.castShadow&&J++),n.spotLightMatrix[D]=$.matrix,X.castShadow){let ye=t.get(X);ye.shadowIntensity=$.intensity,ye.shadowBias=$.bias,ye.shadowNormalBias=$.normalBias,ye.shadowRadius=$.radius,ye.shadowMapSize=$.mapSize,n.spotShadow[D]=ye,n.spotShadowMap[D]=be,E++}D++}else if(X.isRectAreaLight){let ue=e.get(X);ue.color.copy(te).multiplyScalar(H),ue.halfWidth.set(X.width*.5,0,0),ue.halfHeight.set(0,X.height*.5,0),n.rectArea[U]=ue,U++}else if(X.isPointLight){let ue=e.get(X);if(ue.color.copy(X.color).multiplyScalar(X.intensity),ue.distance=X.distance,ue.decay=X.decay,X.castShadow){let $=X.shadow,ye=t.get(X);ye.shadowIntensity=$.intensity,ye.shadowBias=$.bias,ye.shadowNormalBias=$.normalBias,ye.shadowRadius=$.radius,ye.shadowMapSize=$.mapSize,ye.shadowCameraNear=$.camera.near,ye.shadowCameraFar=$.camera.far,n.pointShadow[y]=ye,n.pointShadowMap[y]=be,n.pointShadowMatrix[y]=X.shadow.matrix,L++}n.point[y]=ue,y++}else if(X.isHemisphereLight){let ue=e.get(X);ue.skyColor.copy(X.color).multiplyScalar(H),ue.groundColor.copy(X.groundColor).multiplyScalar(H),n.hemi[F]=ue,F++}}U>0&&(i.has("OES_texture_float_linear")===!0?(n.rectAreaLTC1=Xe.LTC_FLOAT_1,n.rectAreaLTC2=Xe.LTC_FLOAT_2):(n.rectAreaLTC1=Xe.LTC_HALF_1,n.rectAreaLTC2=Xe.LTC_HALF_2)),n.ambient[0]=p,n.ambient[1]=m,n.ambient[2]=g;let ee=n.hash;(ee.sunLength!==v||ee.directionalLength!==b||ee.pointLength!==y||ee.spotLength!==D||ee.rectAreaLength!==U||ee.hemiLength!==F||ee.numSunShadows!==w||ee.numDirectionalShadows!==k||ee.numPointShadows!==L||ee.numSpotShadows!==E||ee.numSpotMaps!==N||ee.numLightProbes!==V)&&(n.sun.length=v,n.directional.length=b,n.spot.length=D,n.rectArea.length=U,n.point.length=y,n.hemi.length=F,n.sunShadow.length=w,n.sunShadowMap.length=w,n.sunShadowMatrix.length=C,n.sunShadowCascade.length=C,n.directionalShadow.length=k,n.directionalShadowMap.length=k,n.directionalShadowMatrix.length=k,n.pointShadow.length=L,n.pointShadowMap.length=L,n.pointShadowMatrix.length=L,n.spotShadow.length=E,n.spotShadowMap.length=E,n.spotLightMatrix.length=E+N-J,n.spotLightMap.length=N,n.numSpotLightShadowsWithMaps=J,n.numLightProbes=V,ee.sunLength=v,ee.directionalLength=b,ee.pointLength=y,ee.spotLength=D,ee.rectAreaLength=U,ee.hemiLength=F,ee.numSunShadows=w,ee.numDirectionalShadows=k,ee.numPointShadows=L,ee.numSpotShadows=E,ee.numSpotMaps=N,ee.numLightProbes=V,n.version=UE++)}function h(d,p){let m=0,g=0,v=0,w=0,C=0,b=0,y=p.matrixWorldInverse;for(let D=0,U=d.length;D<U;D++){let F=d[D];if(F.isSunLight){let k=n.sun[m];k.direction.setFromMatrixPosition(F.matrixWorld),k.direction.transformDirection(y),m++}else if(F.isDirectionalLight){let k=n.directional[g];k.direction.setFromMatrixPosition(F.matrixWorld),r.setFromMatrixPosition(F.target.matrixWorld),k.direction.sub(r),k.direction.transformDirection(y),g++}else if(F.isSpotLight){let k=n.spot[w];k.position.setFromMatrixPosition(F.matrixWorld),k.position.applyMatrix4(y),k.direction.setFromMatrixPosition(F.matrixWorld),r.setFromMatrixPosition(F.target.matrixWorld),k.direction.sub(r),k.direction.transformDirection(y),w++}else if(F.isRectAreaLight){let k=n.rectArea[C];k.position.setFromMatrixPosition(F.matrixWorld),k.position.applyMatrix4(y),l.identity(),a.copy(F.matrixWorld),a.premultiply(y),l.extractRotation(a),k.halfWidth.set(F.width*.5,0,0),k.halfHeight.set(0,F.height*.5,0),k.halfWidth.applyMatrix4(l),k.halfHeight.applyMatrix4(l),C++}else if(F.isPointLight){let k=n.point[v];k.position.setFromMatrixPosition(F.matrixWorld),k.position.applyMatrix4(y),v++}else if(F.isHemisphereLight){let k=n.hemi[b];k.direction.setFromMatrixPosition(F.matrixWorld),k.direction.transformDirection(y),b++}}}return{setup:c,setupView:h,state:n}}function tm(i){let e=new BE(i),t=[],n=[],r=[];function a(m){p.camera=m,t.length=0,n.length=0,r.length=0}function l(m){m.isLightProbeGrid?r.push(m):t.push(m)}function c(m){n.push(m)}function h(){e.setup(t),r.sort((m,g)=>m.priority-g.priority||m.id-g.id)}function d(m){e.setupView(t,m)}let p={lightsArray:t,shadowsArray:n,lightProbeGridArray:r,camera:null,lights:e,transmissionRenderTarget:{},textureUnits:0};return{init:a,state:p,setupLights:h,setupLightsView:d,pushLight:l,pushShadow:c}}function kE(i){let e=new WeakMap;function t(r,a=0){let l=e.get(r),c;return l===void 0?(c=new tm(i),e.set(r,[c])):a>=l.length?(c=new tm(i),l.push(c)):c=l[a],c}function n(){e=new WeakMap}return{get:t,dispose:n}}var zE=`void main() {
	gl_Position = vec4( position, 1.0 );
}`,GE=`uniform sampler2D shadow_pass;
uniform vec2 resolution;
uniform float radius;
void main() {
	const float samples = float( VSM_SAMPLES );
	float mean = 0.0;
	float squared_mean = 0.0;
	float uvStride = samples <= 1.0 ? 0.0 : 2.0 / ( samples - 1.0 );
	float uvStart = samples <= 1.0 ? 0.0 : - 1.0;
	for ( float i = 0.0; i < samples; i ++ ) {
		float uvOffset = uvStart + i * uvStride;
		#ifdef HORIZONTAL_PASS
			vec2 distribution = texture2D( shadow_pass, ( gl_FragCoord.xy + vec2( uvOffset, 0.0 ) * radius ) / resolution ).rg;
			mean += distribution.x;
			squared_mean += distribution.y * distribution.y + distribution.x * distribution.x;
		#else
			float depth = texture2D( shadow_pass, ( gl_FragCoord.xy + vec2( 0.0, uvOffset ) * radius ) / resolution ).r;
			mean += depth;
			squared_mean += depth * depth;
		#endif
	}
	mean = mean / samples;
	squared_mean = squared_mean / samples;
	float std_dev = sqrt( max( 0.0, squared_mean - mean * mean ) );
	gl_FragColor = vec4( mean, std_dev, 0.0, 1.0 );
}`,VE=[new re(1,0,0),new re(-1,0,0),new re(0,1,0),new re(0,-1,0),new re(0,0,1),new re(0,0,-1)],HE=[new re(0,-1,0),new re(0,-1,0),new re(0,0,1),new re(0,0,-1),new re(0,-1,0),new re(0,-1,0)],nm=new Yt,no=new re,Gh=new re;function WE(i,e,t){let n=new Sr,r=new Lt,a=new Lt,l=new fn,c=new Ml,h=new El,d={},p=t.maxTextureSize,m={[Rr]:Xn,[Xn]:Rr,[Oi]:Oi},g=new Ui({defines:{VSM_SAMPLES:8},uniforms:{shadow_pass:{value:null},resolution:{value:new Lt},radius:{value:4}},vertexShader:zE,fragmentShader:GE}),v=g.clone();v.defines.HORIZONTAL_PASS=1;let w=new $n;w.setAttribute("position",new Yn(new Float32Array([-1,-1,.5,3,-1,.5,-1,3,.5]),3));let C=new Un(w,g),b=this;this.enabled=!1,this.autoUpdate=!0,this.needsUpdate=!1,this.type=ja;let y=this.type;this.render=function(L,E,N){if(b.enabled===!1||b.autoUpdate===!1&&b.needsUpdate===!1||L.length===0)return;this.type===Yf&&(ht("WebGLShadowMap: PCFSoftShadowMap has been removed. Using PCFShadowMap instead."),this.type=ja);let J=i.getRenderTarget(),V=i.getActiveCubeFace(),ee=i.getActiveMipmapLevel(),q=i.state;q.setBlending($r),q.buffers.depth.getReversed()===!0?q.buffers.color.setClear(0,0,0,0):q.buffers.color.setClear(1,1,1,1),q.buffers.depth.setTest(!0),q.setScissorTest(!1);let ne=y!==this.type;ne&&E.traverse(function(X){X.material&&(Array.isArray(X.material)?X.material.forEach(te=>te.needsUpdate=!0):X.material.needsUpdate=!0)});for(let X=0,te=L.length;X<te;X++){let H=L[X],le=H.shadow;if(le===void 0){ht("WebGLShadowMap:",H,"has no shadow.");continue}if(le.autoUpdate===!1&&le.needsUpdate===!1)continue;r.copy(le.mapSize);let be=le.getFrameExtents();r.multiply(be),a.copy(le.mapSize),(r.x>p||r.y>p)&&(r.x>p&&(a.x=Math.floor(p/be.x),r.x=a.x*be.x,le.mapSize.x=a.x),r.y>p&&(a.y=Math.floor(p/be.y),r.y=a.y*be.y,le.mapSize.y=a.y));let ue=i.state.buffers.depth.getReversed();if(le.camera._reversedDepth=ue,le.map===null||ne===!0){if(le.map!==null&&(le.map.depthTexture!==null&&(le.map.depthTexture.dispose(),le.map.depthTexture=null),le.map.dispose()),this.type===Vs){if(H.isPointLight){ht("WebGLShadowMap: VSM shadow maps are not supported for PointLights. Use PCF or BasicShadowMap instead.");continue}le.map=new ii(r.x,r.y,{format:Cr,type:Ti,minFilter:Hn,magFilter:Hn,generateMipmaps:!1}),le.map.texture.name=H.name+".shadowMap",le.map.depthTexture=new ir(r.x,r.y,mi),le.map.depthTexture.name=H.name+".shadowMapDepth",le.map.depthTexture.format=Qi,le.map.depthTexture.compareFunction=null,le.map.depthTexture.minFilter=Tn,le.map.depthTexture.magFilter=Tn}else H.isPointLight?(le.map=new ro(r.x),le.map.depthTexture=new Ba(r.x,Ei)):(le.map=new ii(r.x,r.y),le.map.depthTexture=new ir(r.x,r.y,Ei)),le.map.depthTexture.name=H.name+".shadowMap",le.map.depthTexture.format=Qi,this.type===ja?(le.map.depthTexture.compareFunction=ue?Rh:Ah,le.map.depthTexture.minFilter=Hn,le.map.depthTexture.magFilter=Hn):(le.map.depthTexture.compareFunction=null,le.map.depthTexture.minFilter=Tn,le.map.depthTexture.magFilter=Tn);le.camera.updateProjectionMatrix()}le.map.isWebGLCubeRenderTarget!==!0&&(le.map.width!==r.x||le.map.height!==r.y)&&le.map.setSize(r.x,r.y);let $=le.map.isWebGLCubeRenderTarget?6:le.getViewportCount();H.isPointLight!==!0&&le.updateMatrices(H,N);let ye=(le.camera.layers.mask&4294967294)!==0?le.camera.layers:N.layers;for(let qe=0;qe<$;qe++){let at=le.getCamera(qe);if(H.isPointLight){let fe=le.camera,He=le.matrix,Ie=H.distance||fe.far;Ie!==fe.far&&(fe.far=Ie,fe.updateProjectionMatrix()),no.setFromMatrixPosition(H.matrixWorld),fe.position.copy(no),Gh.copy(fe.position),Gh.add(VE[qe]),fe.up.copy(HE[qe]),fe.lookAt(Gh),fe.updateMatrixWorld(),He.makeTranslation(-no.x,-no.y,-no.z),nm.multiplyMatrices(fe.projectionMatrix,fe.matrixWorldInverse),le._frustum.setFromProjectionMatrix(nm,fe.coordinateSystem,fe.reversedDepth)}if(le.map.isWebGLCubeRenderTarget)i.setRenderTarget(le.map,qe),i.clear();else{qe===0&&(i.setRenderTarget(le.map),i.clear());let fe=le.getViewport(qe);l.set(a.x*fe.x,a.y*fe.y,a.x*fe.z,a.y*fe.w),q.viewport(l)}n=le.getFrustum(qe),F(E,N,at,H,ye,this.type)}le.isPointLightShadow!==!0&&this.type===Vs&&D(le,N),le.needsUpdate=!1}y=this.type,b.needsUpdate=!1,i.setRenderTarget(J,V,ee)};function D(L,E){let N=e.update(C);g.defines.VSM_SAMPLES!==L.blurSamples&&(g.defines.VSM_SAMPLES=L.blurSamples,v.defines.VSM_SAMPLES=L.blurSamples,g.needsUpdate=!0,v.needsUpdate=!0),L.mapPass===null?L.mapPass=new ii(r.x,r.y,{format:Cr,type:Ti}):(L.mapPass.width!==L.map.width||L.mapPass.height!==L.map.height)&&L.mapPass.setSize(L.map.width,L.map.height),g.uniforms.shadow_pass.value=L.map.depthTexture,g.uniforms.resolution.value.set(L.map.width,L.map.height),g.uniforms.radius.value=L.radius,i.setRenderTarget(L.mapPass),i.clear(),i.renderBufferDirect(E,null,N,g,C,null),v.uniforms.shadow_pass.value=L.mapPass.texture,v.uniforms.resolution.value.set(L.map.width,L.map.height),v.uniforms.radius.value=L.radius,i.setRenderTarget(L.map),i.clear(),i.renderBufferDirect(E,null,N,v,C,null)}function U(L,E,N,J){let V=null,ee=N.isPointLight===!0?L.customDistanceMaterial:L.customDepthMaterial;if(ee!==void 0)V=ee;else if(V=N.isPointLight===!0?h:c,i.localClippingEnabled&&E.clipShadows===!0&&Array.isArray(E.clippingPlanes)&&E.clippingPlanes.length!==0||E.displacementMap&&E.displacementScale!==0||E.alphaMap&&E.alphaTest>0||E.map&&E.alphaTest>0||E.alphaToCoverage===!0){let q=V.uuid,ne=E.uuid,X=d[q];X===void 0&&(X={},d[q]=X);let te=X[ne];te===void 0&&(te=V.clone(),X[ne]=te,E.addEventListener("dispose",k)),V=te}if(V.visible=E.visible,V.wireframe=E.wireframe,J===Vs?V.side=E.shadowSide!==null?E.shadowSide:E.side:V.side=E.shadowSide!==null?E.shadowSide:m[E.side],V.alphaMap=E.alphaMap,V.alphaTest=E.alphaToCoverage===!0?.5:E.alphaTest,V.map=E.map,V.clipShadows=E.clipShadows,V.clippingPlanes=E.clippingPlanes,V.clipIntersection=E.clipIntersection,V.displacementMap=E.displacementMap,V.displacementScale=E.displacementScale,V.displacementBias=E.displacementBias,V.wireframeLinewidth=E.wireframeLinewidth,V.linewidth=E.linewidth,N.isPointLight===!0&&V.isMeshDistanceMaterial===!0){let q=i.properties.get(V);q.light=N}return V}function F(L,E,N,J,V,ee){if(L.visible===!1)return;if(L.layers.test(V)&&(L.isMesh||L.isLine||L.isPoints)&&(L.castShadow||L.receiveShadow&&ee===Vs)&&(!L.frustumCulled||L.intersectsFrustum(n))){L.modelViewMatrix.multiplyMatrices(N.matrixWorldInverse,L.matrixWorld);let X=e.update(L),te=L.material;if(Array.isArray(te)){let H=X.groups;for(let le=0,be=H.length;le<be;le++){let ue=H[le],$=te[ue.materialIndex];if($&&$.visible){let ye=U(L,$,J,ee);L.onBeforeShadow(i,L,E,N,X,ye,ue),i.renderBufferDirect(N,null,X,ye,L,ue),L.onAfterShadow(i,L,E,N,X,ye,ue)}}}else if(te.visible){let H=U(L,te,J,ee);L.onBeforeShadow(i,L,E,N,X,H,null),i.renderBufferDirect(N,null,X,H,L,null),L.onAfterShadow(i,L,E,N,X,H,null)}}let ne=L.children;for(let X=0,te=ne.length;X<te;X++)F(ne[X],E,N,J,V,ee)}function k(L){L.target.removeEventListener("dispose",k);for(let N in d){let J=d[N],V=L.target.uuid;V in J&&(J[V].dispose(),delete J[V])}}}function $E(i,e){function t(){let W=!1,ge=new fn,he=null,Be=new fn(0,0,0,0);return{setMask:function(De){he!==De&&!W&&(i.colorMask(De,De,De,De),he=De)},setLocked:function(De){W=De},setClear:function(De,Fe,tt,gt,Re){Re===!0&&(De*=gt,Fe*=gt,tt*=gt),ge.set(De,Fe,tt,gt),Be.equals(ge)===!1&&(i.clearColor(De,Fe,tt,gt),Be.copy(ge))},reset:function(){W=!1,he=null,Be.set(-1,0,0,0)}}}function n(){let W=!1,ge=!1,he=null,Be=null,De=null;return{setReversed:function(Fe){if(ge!==Fe){let tt=e.get("EXT_clip_control");Fe?tt.clipControlEXT(tt.LOWER_LEFT_EXT,tt.ZERO_TO_ONE_EXT):tt.clipControlEXT(tt.LOWER_LEFT_EXT,tt.NEGATIVE_ONE_TO_ONE_EXT),ge=Fe;let gt=De;De=null,this.setClear(gt)}},getReversed:function(){return ge},setTest:function(Fe){Fe?Ue(i.DEPTH_TEST):Ke(i.DEPTH_TEST)},setMask:function(Fe){he!==Fe&&!W&&(i.depthMask(Fe),he=Fe)},setFunc:function(Fe){if(ge&&(Fe=Cp[Fe]),Be!==Fe){switch(Fe){case al:i.depthFunc(i.NEVER);break;case ol:i.depthFunc(i.ALWAYS);break;case ll:i.depthFunc(i.LESS);break;case Ls:i.depthFunc(i.LEQUAL);break;case cl:i.depthFunc(i.EQUAL);break;case ul:i.depthFunc(i.GEQUAL);break;case hl:i.depthFunc(i.GREATER);break;case dl:i.depthFunc(i.NOTEQUAL);break;default:i.depthFunc(i.LEQUAL)}Be=Fe}},setLocked:function(Fe){W=Fe},setClear:function(Fe){De!==Fe&&(De=Fe,ge&&(Fe=1-Fe),i.clearDepth(Fe))},reset:function(){W=!1,he=null,Be=null,De=null,ge=!1}}}function r(){let W=!1,ge=null,he=null,Be=null,De=null,Fe=null,tt=null,gt=null,Re=null;return{setTest:function(rt){W||(rt?Ue(i.STENCIL_TEST):Ke(i.STENCIL_TEST))},setMask:function(rt){ge!==rt&&!W&&(i.stencilMask(rt),ge=rt)},setFunc:function(rt,_t,We){(he!==rt||Be!==_t||De!==We)&&(i.stencilFunc(rt,_t,We),he=rt,Be=_t,De=We)},setOp:function(rt,_t,We){(Fe!==rt||tt!==_t||gt!==We)&&(i.stencilOp(rt,_t,We),Fe=rt,tt=_t,gt=We)},setLocked:function(rt){W=rt},setClear:function(rt){Re!==rt&&(i.clearStencil(rt),Re=rt)},reset:function(){W=!1,ge=null,he=null,Be=null,De=null,Fe=null,tt=null,gt=null,Re=null}}}let a=new t,l=new n,c=new r,h={},d=new WeakMap,p={},m={},g={},v=new WeakMap,w=[],C=null,b=!1,y=null,D=null,U=null,F=null,k=null,L=null,E=null,N=new wt(0,0,0),J=0,V=!1,ee=null,q=null,ne=null,X=null,te=null,H=i.getParameter(i.MAX_COMBINED_TEXTURE_IMAGE_UNITS),le=!1,be=0,ue=i.getParameter(i.VERSION);ue.indexOf("WebGL")!==-1?(be=parseFloat(/^WebGL (\d)/.exec(ue)[1]),le=be>=1):ue.indexOf("OpenGL ES")!==-1&&(be=parseFloat(/^OpenGL ES (\d)/.exec(ue)[1]),le=be>=2);let $=null,ye={},qe=i.getParameter(i.SCISSOR_BOX),at=i.getParameter(i.VIEWPORT),fe=new fn().fromArray(qe),He=new fn().fromArray(at);function Ie(W,ge,he,Be){let De=new Uint8Array(4),Fe=i.createTexture();i.bindTexture(W,Fe),i.texParameteri(W,i.TEXTURE_MIN_FILTER,i.NEAREST),i.texParameteri(W,i.TEXTURE_MAG_FILTER,i.NEAREST);for(let tt=0;tt<he;tt++)W===i.TEXTURE_3D||W===i.TEXTURE_2D_ARRAY?i.texImage3D(ge,0,i.RGBA,1,1,Be,0,i.RGBA,i.UNSIGNED_BYTE,De):i.texImage2D(ge+tt,0,i.RGBA,1,1,0,i.RGBA,i.UNSIGNED_BYTE,De);return Fe}let Qe={};Qe[i.TEXTURE_2D]=Ie(i.TEXTURE_2D,i.TEXTURE_2D,1),Qe[i.TEXTURE_CUBE_MAP]=Ie(i.TEXTURE_CUBE_MAP,i.TEXTURE_CUBE_MAP_POSITIVE_X,6),Qe[i.TEXTURE_2D_ARRAY]=Ie(i.TEXTURE_2D_ARRAY,i.TEXTURE_2D_ARRAY,1,1),Qe[i.TEXTURE_3D]=Ie(i.TEXTURE_3D,i.TEXTURE_3D,1,1),a.setClear(0,0,0,1),l.setClear(1),c.setClear(0),Ue(i.DEPTH_TEST),l.setFunc(Ls),Wt(!1),Et(ah),Ue(i.CULL_FACE),Ht($r);function Ue(W){p[W]!==!0&&(i.enable(W),p[W]=!0)}function Ke(W){p[W]!==!1&&(i.disable(W),p[W]=!1)}function ct(W,ge){return g[W]!==ge?(i.bindFramebuffer(W,ge),g[W]=ge,W===i.DRAW_FRAMEBUFFER&&(g[i.FRAMEBUFFER]=ge),W===i.FRAMEBUFFER&&(g[i.DRAW_FRAMEBUFFER]=ge),!0):!1}function Oe(W,ge){let he=w,Be=!1;if(W){he=v.get(ge),he===void 0&&(he=[],v.set(ge,he));let De=W.textures;if(he.length!==De.length||he[0]!==i.COLOR_ATTACHMENT0){for(let Fe=0,tt=De.length;Fe<tt;Fe++)he[Fe]=i.COLOR_ATTACHMENT0+Fe;he.length=De.length,Be=!0}}else he[0]!==i.BACK&&(he[0]=i.BACK,Be=!0);Be&&i.drawBuffers(he)}function Dt(W){return C!==W?(i.useProgram(W),C=W,!0):!1}let Bt={[Xr]:i.FUNC_ADD,[Zf]:i.FUNC_SUBTRACT,[Kf]:i.FUNC_REVERSE_SUBTRACT};Bt[Qf]=i.MIN,Bt[ep]=i.MAX;let bt={[tp]:i.ZERO,[np]:i.ONE,[ip]:i.SRC_COLOR,[uh]:i.SRC_ALPHA,[cp]:i.SRC_ALPHA_SATURATE,[op]:i.DST_COLOR,[sp]:i.DST_ALPHA,[rp]:i.ONE_MINUS_SRC_COLOR,[hh]:i.ONE_MINUS_SRC_ALPHA,[lp]:i.ONE_MINUS_DST_COLOR,[ap]:i.ONE_MINUS_DST_ALPHA,[up]:i.CONSTANT_COLOR,[hp]:i.ONE_MINUS_CONSTANT_COLOR,[dp]:i.CONSTANT_ALPHA,[fp]:i.ONE_MINUS_CONSTANT_ALPHA};function Ht(W,ge,he,Be,De,Fe,tt,gt,Re,rt){if(W===$r){b===!0&&(Ke(i.BLEND),b=!1);return}if(b===!1&&(Ue(i.BLEND),b=!0),W!==Jf){if(W!==y||rt!==V){if((D!==Xr||k!==Xr)&&(i.blendEquation(i.FUNC_ADD),D=Xr,k=Xr),rt)switch(W){case Hs:i.blendFuncSeparate(i.ONE,i.ONE_MINUS_SRC_ALPHA,i.ONE,i.ONE_MINUS_SRC_ALPHA);break;case oh:i.blendFunc(i.ONE,i.ONE);break;case lh:i.blendFuncSeparate(i.ZERO,i.ONE_MINUS_SRC_COLOR,i.ZERO,i.ONE);break;case ch:i.blendFuncSeparate(i.DST_COLOR,i.ONE_MINUS_SRC_ALPHA,i.ZERO,i.ONE);break;default:pt("WebGLState: Invalid blending: ",W);break}else switch(W){case Hs:i.blendFuncSeparate(i.SRC_ALPHA,i.ONE_MINUS_SRC_ALPHA,i.ONE,i.ONE_MINUS_SRC_ALPHA);break;case oh:i.blendFuncSeparate(i.SRC_ALPHA,i.ONE,i.ONE,i.ONE);break;case lh:pt("WebGLState: SubtractiveBlending requires material.premultipliedAlpha = true");break;case ch:pt("WebGLState: MultiplyBlending requires material.premultipliedAlpha = true");break;default:pt("WebGLState: Invalid blending: ",W);break}U=null,F=null,L=null,E=null,N.set(0,0,0),J=0,y=W,V=rt}return}De=De||ge,Fe=Fe||he,tt=tt||Be,(ge!==D||De!==k)&&(i.blendEquationSeparate(Bt[ge],Bt[De]),D=ge,k=De),(he!==U||Be!==F||Fe!==L||tt!==E)&&(i.blendFuncSeparate(bt[he],bt[Be],bt[Fe],bt[tt]),U=he,F=Be,L=Fe,E=tt),(gt.equals(N)===!1||Re!==J)&&(i.blendColor(gt.r,gt.g,gt.b,Re),N.copy(gt),J=Re),y=W,V=!1}function mt(W,ge){W.side===Oi?Ke(i.CULL_FACE):Ue(i.CULL_FACE);let he=W.side===Xn;ge&&(he=!he),Wt(he),W.blending===Hs&&W.transparent===!1?Ht($r):Ht(W.blending,W.blendEquation,W.blendSrc,W.blendDst,W.blendEquationAlpha,W.blendSrcAlpha,W.blendDstAlpha,W.blendColor,W.blendAlpha,W.premultipliedAlpha),l.setFunc(W.depthFunc),l.setTest(W.depthTest),l.setMask(W.depthWrite),a.setMask(W.colorWrite);let Be=W.stencilWrite;c.setTest(Be),Be&&(c.setMask(W.stencilWriteMask),c.setFunc(W.stencilFunc,W.stencilRef,W.stencilFuncMask),c.setOp(W.stencilFail,W.stencilZFail,W.stencilZPass)),ze(W.polygonOffset,W.polygonOffsetFactor,W.polygonOffsetUnits),W.alphaToCoverage===!0?Ue(i.SAMPLE_ALPHA_TO_COVERAGE):Ke(i.SAMPLE_ALPHA_TO_COVERAGE)}function Wt(W){ee!==W&&(W?i.frontFace(i.CW):i.frontFace(i.CCW),ee=W)}function Et(W){W!==qf?(Ue(i.CULL_FACE),W!==q&&(W===ah?i.cullFace(i.BACK):W===jf?i.cullFace(i.FRONT):i.cullFace(i.FRONT_AND_BACK))):Ke(i.CULL_FACE),q=W}function gn(W){W!==ne&&(le&&i.lineWidth(W),ne=W)}function ze(W,ge,he){W?(Ue(i.POLYGON_OFFSET_FILL),(X!==ge||te!==he)&&(X=ge,te=he,l.getReversed()&&(ge=-ge,he=-he),i.polygonOffset(ge,he))):Ke(i.POLYGON_OFFSET_FILL)}function nt(W){W?Ue(i.SCISSOR_TEST):Ke(i.SCISSOR_TEST)}function yn(W){W===void 0&&(W=i.TEXTURE0+H-1),$!==W&&(i.activeTexture(W),$=W)}function rn(W,ge,he){he===void 0&&($===null?he=i.TEXTURE0+H-1:he=$);let Be=ye[he];Be===void 0&&(Be={type:void 0,texture:void 0},ye[he]=Be),(Be.type!==W||Be.texture!==ge)&&($!==he&&(i.activeTexture(he),$=he),i.bindTexture(W,ge||Qe[W]),Be.type=W,Be.texture=ge)}function Y(){let W=ye[$];W!==void 0&&W.type!==void 0&&(i.bindTexture(W.type,null),W.type=void 0,W.texture=void 0)}function ot(){try{i.compressedTexImage2D(...arguments)}catch(W){pt("WebGLState:",W)}}function $t(){try{i.compressedTexImage3D(...arguments)}catch(W){pt("WebGLState:",W)}}function Xt(){try{i.texSubImage2D(...arguments)}catch(W){pt("WebGLState:",W)}}function Ge(){try{i.texSubImage3D(...arguments)}catch(W){pt("WebGLState:",W)}}function pn(){try{i.compressedTexSubImage2D(...arguments)}catch(W){pt("WebGLState:",W)}}function it(){try{i.compressedTexSubImage3D(...arguments)}catch(W){pt("WebGLState:",W)}}function lt(){try{i.texStorage2D(...arguments)}catch(W){pt("WebGLState:",W)}}function O(){try{i.texStorage3D(...arguments)}catch(W){pt("WebGLState:",W)}}function A(){try{i.texImage2D(...arguments)}catch(W){pt("WebGLState:",W)}}function ie(){try{i.texImage3D(...arguments)}catch(W){pt("WebGLState:",W)}}function we(W){return m[W]!==void 0?m[W]:i.getParameter(W)}function ve(W,ge){m[W]!==ge&&(i.pixelStorei(W,ge),m[W]=ge)}function Se(W){fe.equals(W)===!1&&(i.scissor(W.x,W.y,W.z,W.w),fe.copy(W))}function Ae(W){He.equals(W)===!1&&(i.viewport(W.x,W.y,W.z,W.w),He.copy(W))}function de(W,ge){let he=d.get(ge);he===void 0&&(he=new WeakMap,d.set(ge,he));let Be=he.get(W);Be===void 0&&(Be=i.getUniformBlockIndex(ge,W.name),i.uniformBlockBinding(ge,Be,Be),he.set(W,Be))}function me(W,ge,he){let De=d.get(ge).get(W);h[De]!==he&&(i.bindBufferBase(i.UNIFORM_BUFFER,De,he),h[De]=he)}function ke(){i.disable(i.BLEND),i.disable(i.CULL_FACE),i.disable(i.DEPTH_TEST),i.disable(i.POLYGON_OFFSET_FILL),i.disable(i.SCISSOR_TEST),i.disable(i.STENCIL_TEST),i.disable(i.SAMPLE_ALPHA_TO_COVERAGE),i.blendEquation(i.FUNC_ADD),i.blendFunc(i.ONE,i.ZERO),i.blendFuncSeparate(i.ONE,i.ZERO,i.ONE,i.ZERO),i.blendColor(0,0,0,0),i.colorMask(!0,!0,!0,!0),i.clearColor(0,0,0,0),i.depthMask(!0),i.depthFunc(i.LESS),l.setReversed(!1),i.clearDepth(1),i.stencilMask(4294967295),i.stencilFunc(i.ALWAYS,0,4294967295),i.stencilOp(i.KEEP,i.KEEP,i.KEEP),i.clearStencil(0),i.cullFace(i.BACK),i.frontFace(i.CCW),i.polygonOffset(0,0),i.activeTexture(i.TEXTURE0),i.bindFramebuffer(i.FRAMEBUFFER,null),i.bindFramebuffer(i.DRAW_FRAMEBUFFER,null),i.bindFramebuffer(i.READ_FRAMEBUFFER,null),i.useProgram(null),i.lineWidth(1),i.scissor(0,0,i.canvas.width,i.canvas.height),i.viewport(0,0,i.canvas.width,i.canvas.height),i.pixelStorei(i.PACK_ALIGNMENT,4),i.pixelStorei(i.UNPACK_ALIGNMENT,4),i.pixelStorei(i.UNPACK_FLIP_Y_WEBGL,!1),i.pixelStorei(i.UNPACK_PREMULTIPLY_ALPHA_WEBGL,!1),i.pixelStorei(i.UNPACK_COLORSPACE_CONVERSION_WEBGL,i.BROWSER_DEFAULT_WEBGL),i.pixelStorei(i.PACK_ROW_LENGTH,0),i.pixelStorei(i.PACK_SKIP_PIXELS,0),i.pixelStorei(i.PACK_SKIP_ROWS,0),i.pixelStorei(i.UNPACK_ROW_LENGTH,0),i.pixelStorei(i.UNPACK_IMAGE_HEIGHT,0),i.pixelStorei(i.UNPACK_SKIP_PIXELS,0),i.pixelStorei(i.UNPACK_SKIP_ROWS,0),i.pixelStorei(i.UNPACK_SKIP_IMAGES,0),p={},m={},$=null,ye={},g={},h={},v=new WeakMap,w=[],C=null,b=!1,y=null,D=null,U=null,F=null,k=null,L=null,E=null,N=new wt(0,0,0),J=0,V=!1,ee=null,q=null,ne=null,X=null,te=null,fe.set(0,0,i.canvas.width,i.canvas.height),He.set(0,0,i.canvas.width,i.canvas.height),a.reset(),l.reset(),c.reset()}return{buffers:{color:a,depth:l,stencil:c},enable:Ue,disable:Ke,bindFramebuffer:ct,drawBuffers:Oe,useProgram:Dt,setBlending:Ht,setMaterial:mt,setFlipSided:Wt,setCullFace:Et,setLineWidth:gn,setPolygonOffset:ze,setScissorTest:nt,activeTexture:yn,bindTexture:rn,unbindTexture:Y,compressedTexImage2D:ot,compressedTexImage3D:$t,texImage2D:A,texImage3D:ie,pixelStorei:ve,getParameter:we,updateUBOMapping:de,uniformBlockBinding:me,texStorage2D:lt,texStorage3D:O,texSubImage2D:Xt,texSubImage3D:Ge,compressedTexSubImage2D:pn,compressedTexSubImage3D:it,scissor:Se,viewport:Ae,reset:ke}}function XE(i,e,t,n,r,a,l){let c=e.has("WEBGL_multisampled_render_to_texture")?e.get("WEBGL_multisampled_render_to_texture"):null,h=typeof navigator>"u"?!1:/OculusBrowser/g.test(navigator.userAgent),d=new Lt,p=new WeakMap,m=new Set,g,v=new WeakMap,w=new Set,C=new FinalizationRegistry(O=>w.delete(O)),b=!1;try{b=typeof OffscreenCanvas<"u"&&new OffscreenCanvas(1,1).getContext("2d")!==null}catch{}function y(O,A){return b?new OffscreenCanvas(O,A):Ea("canvas")}function D(O,A,ie){let we=1,ve=lt(O);if((ve.width>ie||ve.height>ie)&&(we=ie/Math.max(ve.width,ve.height)),we<1)if(typeof HTMLImageElement<"u"&&O instanceof HTMLImageElement||typeof HTMLCanvasElement<"u"&&O instanceof HTMLCanvasElement||typeof ImageBitmap<"u"&&O instanceof ImageBitmap||typeof VideoFrame<"u"&&O instanceof VideoFrame){let Se=Math.floor(we*ve.width),Ae=Math.floor(we*ve.height);g===void 0&&(g=y(Se,Ae));let de=A?y(Se,Ae):g;return de.width=Se,de.height=Ae,de.getContext("2d").drawImage(O,0,0,Se,Ae),ht("WebGLRenderer: Texture has been resized from ("+ve.width+"x"+ve.height+") to ("+Se+"x"+Ae+")."),de}else return"data"in O&&ht("WebGLRenderer: Image in DataTexture is too big ("+ve.width+"x"+ve.height+")."),O;return O}function U(O){return O.generateMipmaps}function F(O){i.generateMipmap(O)}function k(O){return O.isWebGLCubeRenderTarget?i.TEXTURE_CUBE_MAP:O.isWebGL3DRenderTarget?i.TEXTURE_3D:O.isWebGLArrayRenderTarget||O.isCompressedArrayTexture?i.TEXTURE_2D_ARRAY:i.TEXTURE_2D}function L(O,A,ie,we,ve,Se=!1){if(O!==null){if(i[O]!==void 0)return i[O];ht("WebGLRenderer: Attempt to use non-existing WebGL internal format '"+O+"'")}let Ae;we&&(Ae=e.get("EXT_texture_norm16"),Ae||ht("WebGLRenderer: Unable to use normalized textures without EXT_texture_norm16 extension"));let de=A;if(A===i.RED&&(ie===i.FLOAT&&(de=i.R32F),ie===i.HALF_FLOAT&&(de=i.R16F),ie===i.UNSIGNED_BYTE&&(de=i.R8),ie===i.UNSIGNED_SHORT&&Ae&&(de=Ae.R16_EXT),ie===i.SHORT&&Ae&&(de=Ae.R16_SNORM_EXT)),A===i.RED_INTEGER&&(ie===i.UNSIGNED_BYTE&&(de=i.R8UI),ie===i.UNSIGNED_SHORT&&(de=i.R16UI),ie===i.UNSIGNED_INT&&(de=i.R32UI),ie===i.BYTE&&(de=i.R8I),ie===i.SHORT&&(de=i.R16I),ie===i.INT&&(de=i.R32I)),A===i.RG&&(ie===i.FLOAT&&(de=i.RG32F),ie===i.HALF_FLOAT&&(de=i.RG16F),ie===i.UNSIGNED_BYTE&&(de=i.RG8),ie===i.UNSIGNED_SHORT&&Ae&&(de=Ae.RG16_EXT),ie===i.SHORT&&Ae&&(de=Ae.RG16_SNORM_EXT)),A===i.RG_INTEGER&&(ie===i.UNSIGNED_BYTE&&(de=i.RG8UI),ie===i.UNSIGNED_SHORT&&(de=i.RG16UI),ie===i.UNSIGNED_INT&&(de=i.RG32UI),ie===i.BYTE&&(de=i.RG8I),ie===i.SHORT&&(de=i.RG16I),ie===i.INT&&(de=i.RG32I)),A===i.RGB_INTEGER&&(ie===i.UNSIGNED_BYTE&&(de=i.RGB8UI),ie===i.UNSIGNED_SHORT&&(de=i.RGB16UI),ie===i.UNSIGNED_INT&&(de=i.RGB32UI),ie===i.BYTE&&(de=i.RGB8I),ie===i.SHORT&&(de=i.RGB16I),ie===i.INT&&(de=i.RGB32I)),A===i.RGBA_INTEGER&&(ie===i.UNSIGNED_BYTE&&(de=i.RGBA8UI),ie===i.UNSIGNED_SHORT&&(de=i.RGBA16UI),ie===i.UNSIGNED_INT&&(de=i.RGBA32UI),ie===i.BYTE&&(de=i.RGBA8I),ie===i.SHORT&&(de=i.RGBA16I),ie===i.INT&&(de=i.RGBA32I)),A===i.RGB&&(ie===i.UNSIGNED_SHORT&&Ae&&(de=Ae.RGB16_EXT),ie===i.SHORT&&Ae&&(de=Ae.RGB16_SNORM_EXT),ie===i.UNSIGNED_INT_5_9_9_9_REV&&(de=i.RGB9_E5),ie===i.UNSIGNED_INT_10F_11F_11F_REV&&(de=i.R11F_G11F_B10F)),A===i.RGBA){let me=Se?Ma:Ut.getTransfer(ve);ie===i.FLOAT&&(de=i.RGBA32F),ie===i.HALF_FLOAT&&(de=i.RGBA16F),ie===i.UNSIGNED_BYTE&&(de=me===Jt?i.SRGB8_ALPHA8:i.RGBA8),ie===i.UNSIGNED_SHORT&&Ae&&(de=Ae.RGBA16_EXT),ie===i.SHORT&&Ae&&(de=Ae.RGBA16_SNORM_EXT),ie===i.UNSIGNED_SHORT_4_4_4_4&&(de=i.RGBA4),ie===i.UNSIGNED_SHORT_5_5_5_1&&(de=i.RGB5_A1)}return(de===i.R16F||de===i.R32F||de===i.RG16F||de===i.RG32F||de===i.RGBA16F||de===i.RGBA32F)&&e.get("EXT_color_buffer_float"),de}function E(O,A){let ie;return O?A===null||A===Ei||A===jr?ie=i.DEPTH24_STENCIL8:A===mi?ie=i.DEPTH32F_STENCIL8:A===$s&&(ie=i.DEPTH24_STENCIL8,ht("DepthTexture: 16 bit depth attachment is not supported with stencil. Using 24-bit attachment.")):A===null||A===Ei||A===jr?ie=i.DEPTH_COMPONENT24:A===mi?ie=i.DEPTH_COMPONENT32F:A===$s&&(ie=i.DEPTH_COMPONENT16),ie}function N(O,A){return U(O)===!0||O.isFramebufferTexture&&O.minFilter!==Tn&&O.minFilter!==Hn?Math.log2(Math.max(A.width,A.height))+1:O.mipmaps.length>0?O.mipmaps.length:O.isCompressedTexture&&Array.isArray(O.image)?A.mipmaps.length:1}function J(O){let A=new WeakRef(O);n.get(O).__ref=A,w.add(A),C.register(O,A,A)}function V(O){let A=n.get(O).__ref;A!==void 0&&(w.delete(A),C.unregister(A))}function ee(O){ne(O.target)}function q(O){X(O.target)}function ne(O){O.removeEventListener("dispose",ee),V(O),H(O),O.isVideoTexture&&p.delete(O),O.isHTMLTexture&&m.delete(O)}function X(O){O.removeEventListener("dispose",q),V(O),be(O)}function te(){for(let O of w){let A=O.deref();A!==void 0&&(A.isRenderTarget===!0?X(A):ne(A))}w.clear(),m.clear()}function H(O){let A=n.get(O);if(A.__webglInit===void 0)return;let ie=O.source,we=v.get(ie);if(we){let ve=we[A.__cacheKey];ve.usedTimes--,ve.usedTimes===0&&le(O),Object.keys(we).length===0&&v.delete(ie)}n.remove(O)}function le(O){let A=n.get(O);i.deleteTexture(A.__webglTexture);let ie=O.source,we=v.get(ie);delete we[A.__cacheKey],l.memory.textures--}function be(O){let A=n.get(O);A.__depthDisposeCallback&&A.__depthDisposeCallback();let ie=O.depthTexture;if(ie&&ie.renderTarget===O&&ne(ie),O.isWebGLCubeRenderTarget)for(let ve=0;ve<6;ve++){if(Array.isArray(A.__webglFramebuffer[ve]))for(let Se=0;Se<A.__webglFramebuffer[ve].length;Se++)i.deleteFramebuffer(A.__webglFramebuffer[ve][Se]);else i.deleteFramebuffer(A.__webglFramebuffer[ve]);A.__webglDepthbuffer&&i.deleteRenderbuffer(A.__webglDepthbuffer[ve])}else{if(Array.isArray(A.__webglFramebuffer))for(let ve=0;ve<A.__webglFramebuffer.length;ve++)i.deleteFramebuffer(A.__webglFramebuffer[ve]);else i.deleteFramebuffer(A.__webglFramebuffer);if(A.__webglDepthbuffer&&i.deleteRenderbuffer(A.__webglDepthbuffer),A.__webglMultisampledFramebuffer&&i.deleteFramebuffer(A.__webglMultisampledFramebuffer),A.__webglColorRenderbuffer)for(let ve=0;ve<A.__webglColorRenderbuffer.length;ve++)A.__webglColorRenderbuffer[ve]&&i.deleteRenderbuffer(A.__webglColorRenderbuffer[ve]);A.__webglDepthRenderbuffer&&i.deleteRenderbuffer(A.__webglDepthRenderbuffer)}let we=O.textures;for(let ve=0,Se=we.length;ve<Se;ve++){let Ae=n.get(we[ve]);Ae.__webglTexture&&(i.deleteTexture(Ae.__webglTexture),l.memory.textures--),n.remove(we[ve])}n.remove(O)}let ue=0;function $(){ue=0}function ye(){return ue}function qe(O){ue=O}function at(){let O=ue;return O>=r.maxTextures&&ht("WebGLTextures: Trying to use "+(O+1)+" texture units while this GPU supports only "+r.maxTextures),ue+=1,O}function fe(O){let A=[];return A.push(O.wrapS),A.push(O.wrapT),A.push(O.wrapR||0),A.push(O.magFilter),A.push(O.minFilter),A.push(O.anisotropy),A.push(O.internalFormat),A.push(O.format),A.push(O.type),A.push(O.generateMipmaps),A.push(O.mipmapsAutoUpdate),A.push(O.premultiplyAlpha),A.push(O.flipY),A.push(O.unpackAlignment),A.push(O.colorSpace),A.join()}function He(O,A){let ie=n.get(O);if(O.isVideoTexture&&pn(O),O.isRenderTargetTexture===!1&&O.isExternalTexture!==!0&&O.version>0&&ie.__version!==O.version){let we=O.image;if(we===null)ht("WebGLRenderer: Texture marked for update but no image data found.");else if(we.complete===!1)ht("WebGLRenderer: Texture marked for update but image is incomplete");else{mt(ie,O,A);return}}else O.isExternalTexture&&(ie.__webglTexture=O.sourceTexture?O.sourceTexture:null);t.bindTexture(i.TEXTURE_2D,ie.__webglTexture,i.TEXTURE0+A)}function Ie(O,A){let ie=n.get(O);if(O.isRenderTargetTexture===!1&&O.version>0&&ie.__version!==O.version){mt(ie,O,A);return}else O.isExternalTexture&&(ie.__webglTexture=O.sourceTexture?O.sourceTexture:null);t.bindTexture(i.TEXTURE_2D_ARRAY,ie.__webglTexture,i.TEXTURE0+A)}function Qe(O,A){let ie=n.get(O);if(O.isRenderTargetTexture===!1&&O.version>0&&ie.__version!==O.version){mt(ie,O,A);return}t.bindTexture(i.TEXTURE_3D,ie.__webglTexture,i.TEXTURE0+A)}function Ue(O,A){let ie=n.get(O);if(O.version>0&&ie.__version!==O.version){Wt(ie,O,A);return}t.bindTexture(i.TEXTURE_CUBE_MAP,ie.__webglTexture,i.TEXTURE0+A)}let Ke={[Ds]:i.REPEAT,[Di]:i.CLAMP_TO_EDGE,[fl]:i.MIRRORED_REPEAT},ct={[Tn]:i.NEAREST,[gp]:i.NEAREST_MIPMAP_NEAREST,[Ya]:i.NEAREST_MIPMAP_LINEAR,[Hn]:i.LINEAR,[zl]:i.LINEAR_MIPMAP_NEAREST,[rr]:i.LINEAR_MIPMAP_LINEAR},Oe={[xp]:i.NEVER,[Ch]:i.ALWAYS,[bp]:i.LESS,[Ah]:i.LEQUAL,[Sp]:i.EQUAL,[Rh]:i.GEQUAL,[wp]:i.GREATER,[Mp]:i.NOTEQUAL};function Dt(O,A){if(A.type===mi&&e.has("OES_texture_float_linear")===!1&&(A.magFilter===Hn||A.magFilter===zl||A.magFilter===Ya||A.magFilter===rr||A.minFilter===Hn||A.minFilter===zl||A.minFilter===Ya||A.minFilter===rr)&&ht("WebGLRenderer: Unable to use linear filtering with floating point textures. OES_texture_float_linear not supported on this device."),i.texParameteri(O,i.TEXTURE_WRAP_S,Ke[A.wrapS]),i.texParameteri(O,i.TEXTURE_WRAP_T,Ke[A.wrapT]),(O===i.TEXTURE_3D||O===i.TEXTURE_2D_ARRAY)&&i.texParameteri(O,i.TEXTURE_WRAP_R,Ke[A.wrapR]),i.texParameteri(O,i.TEXTURE_MAG_FILTER,ct[A.magFilter]),i.texParameteri(O,i.TEXTURE_MIN_FILTER,ct[A.minFilter]),A.compareFunction&&(i.texParameteri(O,i.TEXTURE_COMPARE_MODE,i.COMPARE_REF_TO_TEXTURE),i.texParameteri(O,i.TEXTURE_COMPARE_FUNC,Oe[A.compareFunction])),e.has("EXT_texture_filter_anisotropic")===!0){if(A.magFilter===Tn||A.minFilter!==Ya&&A.minFilter!==rr||A.type===mi&&e.has("OES_texture_float_linear")===!1)return;if(A.anisotropy>1||n.get(A).__currentAnisotropy){let ie=e.get("EXT_texture_filter_anisotropic");i.texParameterf(O,ie.TEXTURE_MAX_ANISOTROPY_EXT,Math.min(A.anisotropy,r.getMaxAnisotropy())),n.get(A).__currentAnisotropy=A.anisotropy}}}function Bt(O,A){let ie=!1;O.__webglInit===void 0&&(O.__webglInit=!0,A.addEventListener("dispose",ee),J(A));let we=A.source,ve=v.get(we);ve===void 0&&(ve={},v.set(we,ve));let Se=fe(A);if(Se!==O.__cacheKey){ve[Se]===void 0&&(ve[Se]={texture:i.createTexture(),usedTimes:0},l.memory.textures++,ie=!0),ve[Se].usedTimes++;let Ae=ve[O.__cacheKey];Ae!==void 0&&(ve[O.__cacheKey].usedTimes--,Ae.usedTimes===0&&le(A)),O.__cacheKey=Se,O.__webglTexture=ve[Se].texture}return ie}function bt(O,A,ie){return Math.floor(Math.floor(O/ie)/A)}function Ht(O,A,ie,we){let Se=O.updateRanges;if(Se.length===0)t.texSubImage2D(i.TEXTURE_2D,0,0,0,A.width,A.height,ie,we,A.data);else{Se.sort((W,ge)=>W.start-ge.start);let Ae=0;for(let W=1;W<Se.length;W++){let ge=Se[Ae],he=Se[W],Be=ge.start+ge.count,De=bt(he.start,A.width,4),Fe=bt(ge.start,A.width,4);he.start<=Be+1&&De===Fe&&bt(he.start+he.count-1,A.width,4)===De?ge.count=Math.max(ge.count,he.start+he.count-ge.start):(++Ae,Se[Ae]=he)}Se.length=Ae+1;let de=t.getParameter(i.UNPACK_ROW_LENGTH),me=t.getParameter(i.UNPACK_SKIP_PIXELS),ke=t.getParameter(i.UNPACK_SKIP_ROWS);t.pixelStorei(i.UNPACK_ROW_LENGTH,A.width);for(let W=0,ge=Se.length;W<ge;W++){let he=Se[W],Be=Math.floor(he.start/4),De=Math.ceil(he.count/4),Fe=Be%A.width,tt=Math.floor(Be/A.width),gt=De,Re=1;t.pixelStorei(i.UNPACK_SKIP_PIXELS,Fe),t.pixelStorei(i.UNPACK_SKIP_ROWS,tt),t.texSubImage2D(i.TEXTURE_2D,0,Fe,tt,gt,Re,ie,we,A.data)}O.clearUpdateRanges(),t.pixelStorei(i.UNPACK_ROW_LENGTH,de),t.pixelStorei(i.UNPACK_SKIP_PIXELS,me),t.pixelStorei(i.UNPACK_SKIP_ROWS,ke)}}function mt(O,A,ie){let we=i.TEXTURE_2D;(A.isDataArrayTexture||A.isCompressedArrayTexture)&&(we=i.TEXTURE_2D_ARRAY),A.isData3DTexture&&(we=i.TEXTURE_3D);let ve=Bt(O,A),Se=A.source;t.bindTexture(we,O.__webglTexture,i.TEXTURE0+ie);let Ae=n.get(Se);if(Se.version!==Ae.__version||ve===!0){if(t.activeTexture(i.TEXTURE0+ie),(typeof ImageBitmap<"u"&&A.image instanceof ImageBitmap)===!1){let Re=Ut.getPrimaries(Ut.workingColorSpace),rt=A.colorSpace===ar?null:Ut.getPrimaries(A.colorSpace),_t=A.colorSpace===ar||Re===rt?i.NONE:i.BROWSER_DEFAULT_WEBGL;t.pixelStorei(i.UNPACK_FLIP_Y_WEBGL,A.flipY),t.pixelStorei(i.UNPACK_PREMULTIPLY_ALPHA_WEBGL,A.premultiplyAlpha),t.pixelStorei(i.UNPACK_COLORSPACE_CONVERSION_WEBGL,_t)}t.pixelStorei(i.UNPACK_ALIGNMENT,A.unpackAlignment);let me=D(A.image,!1,r.maxTextureSize);me=it(A,me);let ke=a.convert(A.format,A.colorSpace),W=a.convert(A.type),ge=L(A.internalFormat,ke,W,A.normalized,A.colorSpace,A.isVideoTexture);Dt(we,A);let he,Be=A.mipmaps,De=A.isVideoTexture!==!0,Fe=Ae.__version===void 0||ve===!0,tt=Se.dataReady,gt=N(A,me);if(A.isDepthTexture)ge=E(A.format===sr,A.type),Fe&&(De?t.texStorage2D(i.TEXTURE_2D,1,ge,me.width,me.height):t.texImage2D(i.TEXTURE_2D,0,ge,me.width,me.height,0,ke,W,null));else if(A.isDataTexture)if(Be.length>0){De&&Fe&&t.texStorage2D(i.TEXTURE_2D,gt,ge,Be[0].width,Be[0].height);for(let Re=0,rt=Be.length;Re<rt;Re++)he=Be[Re],De?tt&&t.texSubImage2D(i.TEXTURE_2D,Re,0,0,he.width,he.height,ke,W,he.data):t.texImage2D(i.TEXTURE_2D,Re,ge,he.width,he.height,0,ke,W,he.data);A.generateMipmaps=!1}else De?(Fe&&t.texStorage2D(i.TEXTURE_2D,gt,ge,me.width,me.height),tt&&Ht(A,me,ke,W)):t.texImage2D(i.TEXTURE_2D,0,ge,me.width,me.height,0,ke,W,me.data);else if(A.isCompressedTexture)if(A.isCompressedArrayTexture){De&&Fe&&t.texStorage3D(i.TEXTURE_2D_ARRAY,gt,ge,Be[0].width,Be[0].height,me.depth);for(let Re=0,rt=Be.length;Re<rt;Re++)if(he=Be[Re],A.format!==Ai)if(ke!==null)if(De){if(tt)if(A.layerUpdates.size>0){let _t=kh(he.width,he.height,A.format,A.type);for(let We of A.layerUpdates){let kt=he.data.subarray(We*_t/he.data.BYTES_PER_ELEMENT,(We+1)*_t/he.data.BYTES_PER_ELEMENT);t.compressedTexSubImage3D(i.TEXTURE_2D_ARRAY,Re,0,0,We,he.width,he.height,1,ke,kt)}}else t.compressedTexSubImage3D(i.TEXTURE_2D_ARRAY,Re,0,0,0,he.width,he.height,me.depth,ke,he.data)}else t.compressedTexImage3D(i.TEXTURE_2D_ARRAY,Re,ge,he.width,he.height,me.depth,0,he.data,0,0);else ht("WebGLRenderer: Attempt to load unsupported compressed texture format in .uploadTexture()");else De?tt&&t.texSubImage3D(i.TEXTURE_2D_ARRAY,Re,0,0,0,he.width,he.height,me.depth,ke,W,he.data):t.texImage3D(i.TEXTURE_2D_ARRAY,Re,ge,he.width,he.height,me.depth,0,ke,W,he.data);A.layerUpdates.size>0&&A.clearLayerUpdates()}else{De&&Fe&&t.texStorage2D(i.TEXTURE_2D,gt,ge,Be[0].width,Be[0].height);for(let Re=0,rt=Be.length;Re<rt;Re++)he=Be[Re],A.format!==Ai?ke!==null?De?tt&&t.compressedTexSubImage2D(i.TEXTURE_2D,Re,0,0,he.width,he.height,ke,he.data):t.compressedTexImage2D(i.TEXTURE_2D,Re,ge,he.width,he.height,0,he.data):ht("WebGLRenderer: Attempt to load unsupported compressed texture format in .uploadTexture()"):De?tt&&t.texSubImage2D(i.TEXTURE_2D,Re,0,0,he.width,he.height,ke,W,he.data):t.texImage2D(i.TEXTURE_2D,Re,ge,he.width,he.height,0,ke,W,he.data)}else if(A.isDataArrayTexture)if(De){if(Fe&&t.texStorage3D(i.TEXTURE_2D_ARRAY,gt,ge,me.width,me.height,me.depth),tt)if(A.layerUpdates.size>0){let Re=kh(me.width,me.height,A.format,A.type);for(let rt of A.layerUpdates){let _t=me.data.subarray(rt*Re/me.data.BYTES_PER_ELEMENT,(rt+1)*Re/me.data.BYTES_PER_ELEMENT);t.texSubImage3D(i.TEXTURE_2D_ARRAY,0,0,0,rt,me.width,me.height,1,ke,W,_t)}A.clearLayerUpdates()}else t.texSubImage3D(i.TEXTURE_2D_ARRAY,0,0,0,0,me.width,me.height,me.depth,ke,W,me.data)}else t.texImage3D(i.TEXTURE_2D_ARRAY,0,ge,me.width,me.height,me.depth,0,ke,W,me.data);else if(A.isData3DTexture)De?(Fe&&t.texStorage3D(i.TEXTURE_3D,gt,ge,me.width,me.height,me.depth),tt&&t.texSubImage3D(i.TEXTURE_3D,0,0,0,0,me.width,me.height,me.depth,ke,W,me.data)):t.texImage3D(i.TEXTURE_3D,0,ge,me.width,me.height,me.depth,0,ke,W,me.data);else if(A.isFramebufferTexture){if(Fe)if(De)t.texStorage2D(i.TEXTURE_2D,gt,ge,me.width,me.height);else{let Re=me.width,rt=me.height;for(let _t=0;_t<gt;_t++)t.texImage2D(i.TEXTURE_2D,_t,ge,Re,rt,0,ke,W,null),Re>>=1,rt>>=1}}else if(A.isHTMLTexture){if("texElementImage2D"in i){let Re=i.canvas;if(Re.hasAttribute("layoutsubtree")||Re.setAttribute("layoutsubtree","true"),me.parentNode!==Re){Re.appendChild(me),m.add(A),Re.onpaint=rt=>{let _t=rt.changedElements;for(let We of m)_t.includes(We.image)&&(We.needsUpdate=!0)},Re.requestPaint();return}if(i.texElementImage2D.length===3)i.texElementImage2D(i.TEXTURE_2D,i.RGBA8,me);else{let _t=i.RGBA,We=i.RGBA,kt=i.UNSIGNED_BYTE;i.texElementImage2D(i.TEXTURE_2D,0,_t,We,kt,me)}i.texParameteri(i.TEXTURE_2D,i.TEXTURE_MIN_FILTER,i.LINEAR),i.texParameteri(i.TEXTURE_2D,i.TEXTURE_WRAP_S,i.CLAMP_TO_EDGE),i.texParameteri(i.TEXTURE_2D,i.TEXTURE_WRAP_T,i.CLAMP_TO_EDGE)}}else if(Be.length>0){if(De&&Fe){let Re=lt(Be[0]);t.texStorage2D(i.TEXTURE_2D,gt,ge,Re.width,Re.height)}for(let Re=0,rt=Be.length;Re<rt;Re++)he=Be[Re],De?tt&&t.texSubImage2D(i.TEXTURE_2D,Re,0,0,ke,W,he):t.texImage2D(i.TEXTURE_2D,Re,ge,ke,W,he);A.generateMipmaps=!1}else if(De){if(Fe){let Re=lt(me);t.texStorage2D(i.TEXTURE_2D,gt,ge,Re.width,Re.height)}tt&&t.texSubImage2D(i.TEXTURE_2D,0,0,0,ke,W,me)}else t.texImage2D(i.TEXTURE_2D,0,ge,ke,W,me);U(A)&&A.mipmapsAutoUpdate===!0&&F(we),Ae.__version=Se.version,A.onUpdate&&A.onUpdate(A)}O.__version=A.version}function Wt(O,A,ie){if(A.image.length!==6)return;let we=Bt(O,A),ve=A.source;t.bindTexture(i.TEXTURE_CUBE_MAP,O.__webglTexture,i.TEXTURE0+ie);let Se=n.get(ve);if(ve.version!==Se.__version||we===!0){t.activeTexture(i.TEXTURE0+ie);let Ae=Ut.getPrimaries(Ut.workingColorSpace),de=A.colorSpace===ar?null:Ut.getPrimaries(A.colorSpace),me=A.colorSpace===ar||Ae===de?i.NONE:i.BROWSER_DEFAULT_WEBGL;t.pixelStorei(i.UNPACK_FLIP_Y_WEBGL,A.flipY),t.pixelStorei(i.UNPACK_PREMULTIPLY_ALPHA_WEBGL,A.premultiplyAlpha),t.pixelStorei(i.UNPACK_ALIGNMENT,A.unpackAlignment),t.pixelStorei(i.UNPACK_COLORSPACE_CONVERSION_WEBGL,me);let ke=A.isCompressedTexture||A.image[0].isCompressedTexture,W=A.image[0]&&A.image[0].isDataTexture,ge=[];for(let We=0;We<6;We++)!ke&&!W?ge[We]=D(A.image[We],!0,r.maxCubemapSize):ge[We]=W?A.image[We].image:A.image[We],ge[We]=it(A,ge[We]);let he=ge[0],Be=a.convert(A.format,A.colorSpace),De=a.convert(A.type),Fe=L(A.internalFormat,Be,De,A.normalized,A.colorSpace),tt=A.isVideoTexture!==!0,gt=Se.__version===void 0||we===!0,Re=ve.dataReady,rt=N(A,he);Dt(i.TEXTURE_CUBE_MAP,A);let _t;if(A.isDepthTexture){if(Fe=E(A.format===sr,A.type),gt)if(tt)t.texStorage2D(i.TEXTURE_CUBE_MAP,1,Fe,he.width,he.height);else for(let We=0;We<6;We++)t.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,0,Fe,he.width,he.height,0,Be,De,null)}else if(ke){tt&&gt&&t.texStorage2D(i.TEXTURE_CUBE_MAP,rt,Fe,he.width,he.height);for(let We=0;We<6;We++){_t=ge[We].mipmaps;for(let kt=0;kt<_t.length;kt++){let Kt=_t[kt];A.format!==Ai?Be!==null?tt?Re&&t.compressedTexSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt,0,0,Kt.width,Kt.height,Be,Kt.data):t.compressedTexImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt,Fe,Kt.width,Kt.height,0,Kt.data):ht("WebGLRenderer: Attempt to load unsupported compressed texture format in .setTextureCube()"):tt?Re&&t.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt,0,0,Kt.width,Kt.height,Be,De,Kt.data):t.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt,Fe,Kt.width,Kt.height,0,Be,De,Kt.data)}}}else{if(_t=A.mipmaps,tt&&gt){_t.length>0&&rt++;let We=lt(ge[0]);t.texStorage2D(i.TEXTURE_CUBE_MAP,rt,Fe,We.width,We.height)}for(let We=0;We<6;We++)if(W){tt?Re&&t.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,0,0,0,ge[We].width,ge[We].height,Be,De,ge[We].data):t.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,0,Fe,ge[We].width,ge[We].height,0,Be,De,ge[We].data);for(let kt=0;kt<_t.length;kt++){let li=_t[kt].image[We].image;tt?Re&&t.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt+1,0,0,li.width,li.height,Be,De,li.data):t.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt+1,Fe,li.width,li.height,0,Be,De,li.data)}}else{tt?Re&&t.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,0,0,0,Be,De,ge[We]):t.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,0,Fe,Be,De,ge[We]);for(let kt=0;kt<_t.length;kt++){let Kt=_t[kt];tt?Re&&t.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt+1,0,0,Be,De,Kt.image[We]):t.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+We,kt+1,Fe,Be,De,Kt.image[We])}}}U(A)&&A.mipmapsAutoUpdate===!0&&F(i.TEXTURE_CUBE_MAP),Se.__version=ve.version,A.onUpdate&&A.onUpdate(A)}O.__version=A.version}function Et(O,A,ie,we,ve,Se){let Ae=a.convert(ie.format,ie.colorSpace),de=a.convert(ie.type),me=L(ie.internalFormat,Ae,de,ie.normalized,ie.colorSpace),ke=n.get(A),W=n.get(ie);if(W.__renderTarget=A,!ke.__hasExternalTextures){let ge=Math.max(1,A.width>>Se),he=Math.max(1,A.height>>Se);ve===i.TEXTURE_3D||ve===i.TEXTURE_2D_ARRAY?t.texImage3D(ve,Se,me,ge,he,A.depth,0,Ae,de,null):t.texImage2D(ve,Se,me,ge,he,0,Ae,de,null)}t.bindFramebuffer(i.FRAMEBUFFER,O),Ge(A)?c.framebufferTexture2DMultisampleEXT(i.FRAMEBUFFER,we,ve,W.__webglTexture,0,Xt(A)):(ve===i.TEXTURE_2D||ve>=i.TEXTURE_CUBE_MAP_POSITIVE_X&&ve<=i.TEXTURE_CUBE_MAP_NEGATIVE_Z)&&i.framebufferTexture2D(i.FRAMEBUFFER,we,ve,W.__webglTexture,Se),t.bindFramebuffer(i.FRAMEBUFFER,null)}function gn(O,A,ie){if(i.bindRenderbuffer(i.RENDERBUFFER,O),A.depthBuffer){let we=A.depthTexture,ve=we&&we.isDepthTexture?we.type:null,Se=E(A.stencilBuffer,ve),Ae=A.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT;Ge(A)?c.renderbufferStorageMultisampleEXT(i.RENDERBUFFER,Xt(A),Se,A.width,A.height):ie?i.renderbufferStorageMultisample(i.RENDERBUFFER,Xt(A),Se,A.width,A.height):i.renderbufferStorage(i.RENDERBUFFER,Se,A.width,A.height),i.framebufferRenderbuffer(i.FRAMEBUFFER,Ae,i.RENDERBUFFER,O)}else{let we=A.textures;for(let ve=0;ve<we.length;ve++){let Se=we[ve],Ae=a.convert(Se.format,Se.colorSpace),de=a.convert(Se.type),me=L(Se.internalFormat,Ae,de,Se.normalized,Se.colorSpace);Ge(A)?c.renderbufferStorageMultisampleEXT(i.RENDERBUFFER,Xt(A),me,A.width,A.height):ie?i.renderbufferStorageMultisample(i.RENDERBUFFER,Xt(A),me,A.width,A.height):i.renderbufferStorage(i.RENDERBUFFER,me,A.width,A.height)}}i.bindRenderbuffer(i.RENDERBUFFER,null)}function ze(O,A,ie){let we=A.isWebGLCubeRenderTarget===!0;if(t.bindFramebuffer(i.FRAMEBUFFER,O),!(A.depthTexture&&A.depthTexture.isDepthTexture))throw new Error("THREE.WebGLTextures: renderTarget.depthTexture must be an instance of THREE.DepthTexture.");let ve=n.get(A.depthTexture);ve.__renderTarget=A;let Se=we?A.depthTexture.image[0]:A.depthTexture.image;(!ve.__webglTexture||Se.width!==A.width||Se.height!==A.height)&&(Se.width=A.width,Se.height=A.height,A.depthTexture.needsUpdate=!0),we?Ue(A.depthTexture,0):He(A.depthTexture,0);let Ae=ve.__webglTexture,de=Xt(A),me=we?i.TEXTURE_CUBE_MAP_POSITIVE_X+ie:i.TEXTURE_2D,ke=A.depthTexture.format===sr?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT;if(A.depthTexture.format===Qi)Ge(A)?c.framebufferTexture2DMultisampleEXT(i.FRAMEBUFFER,ke,me,Ae,0,de):i.framebufferTexture2D(i.FRAMEBUFFER,ke,me,Ae,0);else if(A.depthTexture.format===sr)Ge(A)?c.framebufferTexture2DMultisampleEXT(i.FRAMEBUFFER,ke,me,Ae,0,de):i.framebufferTexture2D(i.FRAMEBUFFER,ke,me,Ae,0);else throw new Error("THREE.WebGLTextures: Unknown depthTexture format.")}function nt(O){let A=n.get(O),ie=O.isWebGLCubeRenderTarget===!0;if(A.__boundDepthTexture!==O.depthTexture){let we=O.depthTexture;if(A.__depthDisposeCallback&&A.__depthDisposeCallback(),we){let ve=()=>{delete A.__boundDepthTexture,delete A.__depthDisposeCallback,we.removeEventListener("dispose",ve)};we.addEventListener("dispose",ve),A.__depthDisposeCallback=ve}A.__boundDepthTexture=we}if(O.depthTexture&&!A.__autoAllocateDepthBuffer)if(ie)for(let we=0;we<6;we++)ze(A.__webglFramebuffer[we],O,we);else O.texture.mipmaps.length>0?ze(A.__webglFramebuffer[0],O,0):ze(A.__webglFramebuffer,O,0);else if(ie){A.__webglDepthbuffer=[];for(let we=0;we<6;we++)if(t.bindFramebuffer(i.FRAMEBUFFER,A.__webglFramebuffer[we]),A.__webglDepthbuffer[we]===void 0)A.__webglDepthbuffer[we]=i.createRenderbuffer(),gn(A.__webglDepthbuffer[we],O,!1);else{let ve=O.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT,Se=A.__webglDepthbuffer[we];i.bindRenderbuffer(i.RENDERBUFFER,Se),i.framebufferRenderbuffer(i.FRAMEBUFFER,ve,i.RENDERBUFFER,Se)}}else if(O.texture.mipmaps.length>0?t.bindFramebuffer(i.FRAMEBUFFER,A.__webglFramebuffer[0]):t.bindFramebuffer(i.FRAMEBUFFER,A.__webglFramebuffer),A.__webglDepthbuffer===void 0)A.__webglDepthbuffer=i.createRenderbuffer(),gn(A.__webglDepthbuffer,O,!1);else{let ve=O.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT,Se=A.__webglDepthbuffer;i.bindRenderbuffer(i.RENDERBUFFER,Se),i.framebufferRenderbuffer(i.FRAMEBUFFER,ve,i.RENDERBUFFER,Se)}t.bindFramebuffer(i.FRAMEBUFFER,null)}function yn(O,A,ie){let we=n.get(O);A!==void 0&&Et(we.__webglFramebuffer,O,O.texture,i.COLOR_ATTACHMENT0,i.TEXTURE_2D,0),ie!==void 0&&nt(O)}function rn(O){let A=O.texture,ie=n.get(O),we=n.get(A);O.addEventListener("dispose",q),J(O);let ve=O.textures,Se=O.isWebGLCubeRenderTarget===!0,Ae=ve.length>1;if(Ae||(we.__webglTexture===void 0&&(we.__webglTexture=i.createTexture()),we.__version=A.version,l.memory.textures++),Se){ie.__webglFramebuffer=[];for(let de=0;de<6;de++)if(A.mipmaps.length>0){ie.__webglFramebuffer[de]=[];for(let me=0;me<A.mipmaps.length;me++)ie.__webglFramebuffer[de][me]=i.createFramebuffer()}else ie.__webglFramebuffer[de]=i.createFramebuffer()}else{if(A.mipmaps.length>0){ie.__webglFramebuffer=[];for(let de=0;de<A.mipmaps.length;de++)ie.__webglFramebuffer[de]=i.createFramebuffer()}else ie.__webglFramebuffer=i.createFramebuffer();if(Ae)for(let de=0,me=ve.length;de<me;de++){let ke=n.get(ve[de]);ke.__webglTexture===void 0&&(ke.__webglTexture=i.createTexture(),l.memory.textures++)}if(O.samples>0&&Ge(O)===!1){ie.__webglMultisampledFramebuffer=i.createFramebuffer(),ie.__webglColorRenderbuffer=[],t.bindFramebuffer(i.FRAMEBUFFER,ie.__webglMultisampledFramebuffer);for(let de=0;de<ve.length;de++){let me=ve[de];ie.__webglColorRenderbuffer[de]=i.createRenderbuffer(),i.bindRenderbuffer(i.RENDERBUFFER,ie.__webglColorRenderbuffer[de]);let ke=a.convert(me.format,me.colorSpace),W=a.convert(me.type),ge=L(me.internalFormat,ke,W,me.normalized,me.colorSpace,O.isXRRenderTarget===!0),he=Xt(O);i.renderbufferStorageMultisample(i.RENDERBUFFER,he,ge,O.width,O.height),i.framebufferRenderbuffer(i.FRAMEBUFFER,i.COLOR_ATTACHMENT0+de,i.RENDERBUFFER,ie.__webglColorRenderbuffer[de])}i.bindRenderbuffer(i.RENDERBUFFER,null),O.depthBuffer&&(ie.__webglDepthRenderbuffer=i.createRenderbuffer(),gn(ie.__webglDepthRenderbuffer,O,!0)),t.bindFramebuffer(i.FRAMEBUFFER,null)}}if(Se){t.bindTexture(i.TEXTURE_CUBE_MAP,we.__webglTexture),Dt(i.TEXTURE_CUBE_MAP,A);for(let de=0;de<6;de++)if(A.mipmaps.length>0)for(let me=0;me<A.mipmaps.length;me++)Et(ie.__webglFramebuffer[de][me],O,A,i.COLOR_ATTACHMENT0,i.TEXTURE_CUBE_MAP_POSITIVE_X+de,me);else Et(ie.__webglFramebuffer[de],O,A,i.COLOR_ATTACHMENT0,i.TEXTURE_CUBE_MAP_POSITIVE_X+de,0);U(A)?F(i.TEXTURE_CUBE_MAP):A.mipmaps.length>0&&i.texParameteri(i.TEXTURE_CUBE_MAP,i.TEXTURE_MAX_LEVEL,A.mipmaps.length-1),t.unbindTexture()}else if(Ae){for(let de=0,me=ve.length;de<me;de++){let ke=ve[de],W=n.get(ke),ge=i.TEXTURE_2D;(O.isWebGL3DRenderTarget||O.isWebGLArrayRenderTarget)&&(ge=O.isWebGL3DRenderTarget?i.TEXTURE_3D:i.TEXTURE_2D_ARRAY),t.bindTexture(ge,W.__webglTexture),Dt(ge,ke),Et(ie.__webglFramebuffer,O,ke,i.COLOR_ATTACHMENT0+de,ge,0),U(ke)&&F(ge)}t.unbindTexture()}else{let de=i.TEXTURE_2D;if((O.isWebGL3DRenderTarget||O.isWebGLArrayRenderTarget)&&(de=O.isWebGL3DRenderTarget?i.TEXTURE_3D:i.TEXTURE_2D_ARRAY),t.bindTexture(de,we.__webglTexture),Dt(de,A),A.mipmaps.length>0)for(let me=0;me<A.mipmaps.length;me++)Et(ie.__webglFramebuffer[me],O,A,i.COLOR_ATTACHMENT0,de,me);else Et(ie.__webglFramebuffer,O,A,i.COLOR_ATTACHMENT0,de,0);U(A)?F(de):A.mipmaps.length>0&&i.texParameteri(de,i.TEXTURE_MAX_LEVEL,A.mipmaps.length-1),t.unbindTexture()}O.depthBuffer&&nt(O)}function Y(O){let A=O.textures;for(let ie=0,we=A.length;ie<we;ie++){let ve=A[ie];if(U(ve)&&ve.mipmapsAutoUpdate===!0){let Se=k(O),Ae=n.get(ve).__webglTexture;t.bindTexture(Se,Ae),F(Se),t.unbindTexture()}}}let ot=[];function $t(O){if(O.samples>0){if(Ge(O)===!1){let A=O.textures,ie=O.width,we=O.height,ve=i.COLOR_BUFFER_BIT,Se=O.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT,Ae=n.get(O),de=A.length>1;if(de)for(let ke=0;ke<A.length;ke++)t.bindFramebuffer(i.FRAMEBUFFER,Ae.__webglMultisampledFramebuffer),i.framebufferRenderbuffer(i.FRAMEBUFFER,i.COLOR_ATTACHMENT0+ke,i.RENDERBUFFER,null),t.bindFramebuffer(i.FRAMEBUFFER,Ae.__webglFramebuffer),i.framebufferTexture2D(i.DRAW_FRAMEBUFFER,i.COLOR_ATTACHMENT0+ke,i.TEXTURE_2D,null,0);t.bindFramebuffer(i.READ_FRAMEBUFFER,Ae.__webglMultisampledFramebuffer),O.texture.mipmaps.length>0?t.bindFramebuffer(i.DRAW_FRAMEBUFFER,Ae.__webglFramebuffer[0]):t.bindFramebuffer(i.DRAW_FRAMEBUFFER,Ae.__webglFramebuffer);for(let ke=0;ke<A.length;ke++){if(O.resolveDepthBuffer&&(O.depthBuffer&&(ve|=i.DEPTH_BUFFER_BIT),O.stencilBuffer&&O.resolveStencilBuffer&&(ve|=i.STENCIL_BUFFER_BIT)),de){i.framebufferRenderbuffer(i.READ_FRAMEBUFFER,i.COLOR_ATTACHMENT0,i.RENDERBUFFER,Ae.__webglColorRenderbuffer[ke]);let W=n.get(A[ke]).__webglTexture;i.framebufferTexture2D(i.DRAW_FRAMEBUFFER,i.COLOR_ATTACHMENT0,i.TEXTURE_2D,W,0)}i.blitFramebuffer(0,0,ie,we,0,0,ie,we,ve,i.NEAREST),h===!0&&(ot.length=0,ot.push(i.COLOR_ATTACHMENT0+ke),O.depthBuffer&&O.storeMultisampledDepthBuffer===!1&&ot.push(Se),i.invalidateFramebuffer(i.READ_FRAMEBUFFER,ot))}if(t.bindFramebuffer(i.READ_FRAMEBUFFER,null),t.bindFramebuffer(i.DRAW_FRAMEBUFFER,null),de)for(let ke=0;ke<A.length;ke++){t.bindFramebuffer(i.FRAMEBUFFER,Ae.__webglMultisampledFramebuffer),i.framebufferRenderbuffer(i.FRAMEBUFFER,i.COLOR_ATTACHMENT0+ke,i.RENDERBUFFER,Ae.__webglColorRenderbuffer[ke]);let W=n.get(A[ke]).__webglTexture;t.bindFramebuffer(i.FRAMEBUFFER,Ae.__webglFramebuffer),i.framebufferTexture2D(i.DRAW_FRAMEBUFFER,i.COLOR_ATTACHMENT0+ke,i.TEXTURE_2D,W,0)}t.bindFramebuffer(i.DRAW_FRAMEBUFFER,Ae.__webglMultisampledFramebuffer)}else if(O.depthBuffer&&O.storeMultisampledDepthBuffer===!1&&h){let A=O.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT;i.invalidateFramebuffer(i.DRAW_FRAMEBUFFER,[A])}}}function Xt(O){return Math.min(r.maxSamples,O.samples)}function Ge(O){let A=n.get(O);return O.samples>0&&e.has("WEBGL_multisampled_render_to_texture")===!0&&A.__useRenderToTexture!==!1}function pn(O){let A=l.render.frame;p.get(O)!==A&&(p.set(O,A),O.update())}function it(O,A){let ie=O.colorSpace,we=O.format,ve=O.type;return O.isCompressedTexture===!0||O.isVideoTexture===!0||ie!==wa&&ie!==ar&&(Ut.getTransfer(ie)===Jt?(we!==Ai||ve!==Jn)&&ht("WebGLTextures: sRGB encoded textures have to use RGBAFormat and UnsignedByteType."):pt("WebGLTextures: Unsupported texture color space:",ie)),A}function lt(O){return typeof HTMLImageElement<"u"&&O instanceof HTMLImageElement?(d.width=O.naturalWidth||O.width,d.height=O.naturalHeight||O.height):typeof VideoFrame<"u"&&O instanceof VideoFrame?(d.width=O.displayWidth,d.height=O.displayHeight):(d.width=O.width,d.height=O.height),d}this.allocateTextureUnit=at,this.resetTextureUnits=$,this.getTextureUnits=ye,this.setTextureUnits=qe,this.setTexture2D=He,this.setTexture2DArray=Ie,this.setTexture3D=Qe,this.setTextureCube=Ue,this.rebindTextures=yn,this.setupRenderTarget=rn,this.updateRenderTargetMipmap=Y,this.updateMultisampleRenderTarget=$t,this.setupDepthRenderbuffer=nt,this.setupFrameBufferTexture=Et,this.useMultisampledRTT=Ge,this.dispose=te}function qE(i,e){function t(n,r=ar){let a,l=Ut.getTransfer(r);if(n===Jn)return i.UNSIGNED_BYTE;if(n===Vl)return i.UNSIGNED_SHORT_4_4_4_4;if(n===Hl)return i.UNSIGNED_SHORT_5_5_5_1;if(n===wh)return i.UNSIGNED_INT_5_9_9_9_REV;if(n===Mh)return i.UNSIGNED_INT_10F_11F_11F_REV;if(n===bh)return i.BYTE;if(n===Sh)return i.SHORT;if(n===$s)return i.UNSIGNED_SHORT;if(n===Gl)return i.INT;if(n===Ei)return i.UNSIGNED_INT;if(n===mi)return i.FLOAT;if(n===Ti)return i.HALF_FLOAT;if(n===Eh)return i.ALPHA;if(n===Th)return i.RGB;if(n===Ai)return i.RGBA;if(n===Qi)return i.DEPTH_COMPONENT;if(n===sr)return i.DEPTH_STENCIL;if(n===Wl)return i.RED;if(n===$l)return i.RED_INTEGER;if(n===Cr)return i.RG;if(n===Xl)return i.RG_INTEGER;if(n===ql)return i.RGBA_INTEGER;if(n===Ja||n===Za||n===Ka||n===Qa)if(l===Jt)if(a=e.get("WEBGL_compressed_texture_s3tc_srgb"),a!==null){if(n===Ja)return a.COMPRESSED_SRGB_S3TC_DXT1_EXT;if(n===Za)return a.COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT;if(n===Ka)return a.COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT;if(n===Qa)return a.COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT}else return null;else if(a=e.get("WEBGL_compressed_texture_s3tc"),a!==null){if(n===Ja)return a.COMPRESSED_RGB_S3TC_DXT1_EXT;if(n===Za)return a.COMPRESSED_RGBA_S3TC_DXT1_EXT;if(n===Ka)return a.COMPRESSED_RGBA_S3TC_DXT3_EXT;if(n===Qa)return a.COMPRESSED_RGBA_S3TC_DXT5_EXT}else return null;if(n===jl||n===Yl||n===Jl||n===Zl)if(a=e.get("WEBGL_compressed_texture_pvrtc"),a!==null){if(n===jl)return a.COMPRESSED_RGB_PVRTC_4BPPV1_IMG;if(n===Yl)return a.COMPRESSED_RGB_PVRTC_2BPPV1_IMG;if(n===Jl)return a.COMPRESSED_RGBA_PVRTC_4BPPV1_IMG;if(n===Zl)return a.COMPRESSED_RGBA_PVRTC_2BPPV1_IMG}else return null;if(n===Kl||n===Ql||n===ec||n===tc||n===nc||n===eo||n===ic)if(a=e.get("WEBGL_compressed_texture_etc"),a!==null){if(n===Kl||n===Ql)return l===Jt?a.COMPRESSED_SRGB8_ETC2:a.COMPRESSED_RGB8_ETC2;if(n===ec)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ETC2_EAC:a.COMPRESSED_RGBA8_ETC2_EAC;if(n===tc)return a.COMPRESSED_R11_EAC;if(n===nc)return a.COMPRESSED_SIGNED_R11_EAC;if(n===eo)return a.COMPRESSED_RG11_EAC;if(n===ic)return a.COMPRESSED_SIGNED_RG11_EAC}else return null;if(n===rc||n===sc||n===ac||n===oc||n===lc||n===cc||n===uc||n===hc||n===dc||n===fc||n===pc||n===mc||n===gc||n===_c)if(a=e.get("WEBGL_compressed_texture_astc"),a!==null){if(n===rc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_4x4_KHR:a.COMPRESSED_RGBA_ASTC_4x4_KHR;if(n===sc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_5x4_KHR:a.COMPRESSED_RGBA_ASTC_5x4_KHR;if(n===ac)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_5x5_KHR:a.COMPRESSED_RGBA_ASTC_5x5_KHR;if(n===oc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_6x5_KHR:a.COMPRESSED_RGBA_ASTC_6x5_KHR;if(n===lc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_6x6_KHR:a.COMPRESSED_RGBA_ASTC_6x6_KHR;if(n===cc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_8x5_KHR:a.COMPRESSED_RGBA_ASTC_8x5_KHR;if(n===uc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_8x6_KHR:a.COMPRESSED_RGBA_ASTC_8x6_KHR;if(n===hc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_8x8_KHR:a.COMPRESSED_RGBA_ASTC_8x8_KHR;if(n===dc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_10x5_KHR:a.COMPRESSED_RGBA_ASTC_10x5_KHR;if(n===fc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_10x6_KHR:a.COMPRESSED_RGBA_ASTC_10x6_KHR;if(n===pc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_10x8_KHR:a.COMPRESSED_RGBA_ASTC_10x8_KHR;if(n===mc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_10x10_KHR:a.COMPRESSED_RGBA_ASTC_10x10_KHR;if(n===gc)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_12x10_KHR:a.COMPRESSED_RGBA_ASTC_12x10_KHR;if(n===_c)return l===Jt?a.COMPRESSED_SRGB8_ALPHA8_ASTC_12x12_KHR:a.COMPRESSED_RGBA_ASTC_12x12_KHR}else return null;if(n===vc||n===yc||n===xc)if(a=e.get("EXT_texture_compression_bptc"),a!==null){if(n===vc)return l===Jt?a.COMPRESSED_SRGB_ALPHA_BPTC_UNORM_EXT:a.COMPRESSED_RGBA_BPTC_UNORM_EXT;if(n===yc)return a.COMPRESSED_RGB_BPTC_SIGNED_FLOAT_EXT;if(n===xc)return a.COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT_EXT}else return null;if(n===bc||n===Sc||n===to||n===wc)if(a=e.get("EXT_texture_compression_rgtc"),a!==null){if(n===bc)return a.COMPRESSED_RED_RGTC1_EXT;if(n===Sc)return a.COMPRESSED_SIGNED_RED_RGTC1_EXT;if(n===to)return a.COMPRESSED_RED_GREEN_RGTC2_EXT;if(n===wc)return a.COMPRESSED_SIGNED_RED_GREEN_RGTC2_EXT}else return null;return n===jr?i.UNSIGNED_INT_24_8:i[n]!==void 0?i[n]:null}return{convert:t}}var jE=`
void main() {

	gl_Position = vec4( position, 1.0 );

}`,YE=`
uniform sampler2DArray depthColor;
uniform float depthWidth;
uniform float depthHeight;

void main() {

	vec2 coord = vec2( gl_FragCoord.x / depthWidth, gl_FragCoord.y / depthHeight );

	if ( coord.x >= 1.0 ) {

		gl_FragDepth = texture( depthColor, vec3( coord.x - 1.0, coord.y, 1 ) ).r;

	} else {

		gl_FragDepth = texture( depthColor, vec3( coord.x, coord.y, 0 ) ).r;

	}

}`,jh=class{constructor(){this.texture=null,this.mesh=null,this.depthNear=0,this.depthFar=0}init(e,t){if(this.texture===null){let n=new ka(e.texture);(e.depthNear!==t.depthNear||e.depthFar!==t.depthFar)&&(this.depthNear=e.depthNear,this.depthFar=e.depthFar),this.texture=n}}getMesh(e){if(this.texture!==null&&this.mesh===null){let t=e.cameras[0].viewport,n=new Ui({vertexShader:jE,fragmentShader:YE,uniforms:{depthColor:{value:this.texture},depthWidth:{value:t.z},depthHeight:{value:t.w}}});this.mesh=new Un(new Mr(20,20),n)}return this.mesh}reset(){this.texture=null,this.mesh=null}getDepthTexture(){return this.texture}},Yh=class extends Fi{constructor(e,t){super();let n=this,r=null,a=1,l=null,c="local-floor",h=1,d=null,p=null,m=null,g=null,v=null,w=null,C=typeof XRWebGLBinding<"u",b=new jh,y={},D=t.getContextAttributes(),U=null,F=null,k=[],L=[],E=new Lt,N=null,J=null,V=new Vn;V.viewport=new fn;let ee=new Vn;ee.viewport=new fn;let q=[V,ee],ne=new Ol,X=null,te=null;this.cameraAutoUpdate=!0,this.enabled=!1,this.isPresenting=!1,this.getController=function(fe){let He=k[fe];return He===void 0&&(He=new ks,k[fe]=He),He.getTargetRaySpace()},this.getControllerGrip=function(fe){let He=k[fe];return He===void 0&&(He=new ks,k[fe]=He),He.getGripSpace()},this.getHand=function(fe){let He=k[fe];return He===void 0&&(He=new ks,k[fe]=He),He.getHandSpace()};function H(fe){let He=L.indexOf(fe.inputSource);if(He===-1)return;let Ie=k[He];Ie!==void 0&&(Ie.update(fe.inputSource,fe.frame,d||l),Ie.dispatchEvent({type:fe.type,data:fe.inputSource}))}function le(){r.removeEventListener("select",H),r.removeEventListener("selectstart",H),r.removeEventListener("selectend",H),r.removeEventListener("squeeze",H),r.removeEventListener("squeezestart",H),r.removeEventListener("squeezeend",H),r.removeEventListener("end",le),r.removeEventListener("inputsourceschange",be);for(let fe=0;fe<k.length;fe++){let He=L[fe];He!==null&&(L[fe]=null,k[fe].disconnect(He))}X=null,te=null,b.reset();for(let fe in y)delete y[fe];if(e.setRenderTarget(U),v=null,g=null,m=null,r=null,F=null,at.stop(),n.isPresenting=!1,e.setPixelRatio(N),e.setSize(E.width,E.height,!1),J!==null){let fe=J.camera;fe.fov=J.fov,fe.zoom=J.zoom,fe.updateProjectionMatrix(),J=null}n.dispatchEvent({type:"sessionend"})}this.setFramebufferScaleFactor=function(fe){a=fe,n.isPresenting===!0&&ht("WebXRManager: Cannot change framebuffer scale while presenting.")},this.setReferenceSpaceType=function(fe){c=fe,n.isPresenting===!0&&ht("WebXRManager: Cannot change reference space type while presenting.")},this.getReferenceSpace=function(){return d||l},this.setReferenceSpace=function(fe){d=fe},this.getBaseLayer=function(){return g!==null?g:v},this.getBinding=function(){return m===null&&C&&(m=new XRWebGLBinding(r,t)),m},this.getFrame=function(){return w},this.getSession=function(){return r},this.setSession=async function(fe){if(r=fe,r!==null){if(U=e.getRenderTarget(),r.addEventListener("select",H),r.addEventListener("selectstart",H),r.addEventListener("selectend",H),r.addEventListener("squeeze",H),r.addEventListener("squeezestart",H),r.addEventListener("squeezeend",H),r.addEventListener("end",le),r.addEventListener("inputsourceschange",be),D.xrCompatible!==!0&&await t.makeXRCompatible(),N=e.getPixelRatio(),e.getSize(E),C&&"createProjectionLayer"in XRWebGLBinding.prototype){let Ie=null,Qe=null,Ue=null;D.depth&&(Ue=D.stencil?t.DEPTH24_STENCIL8:t.DEPTH_COMPONENT24,Ie=D.stencil?sr:Qi,Qe=D.stencil?jr:Ei);let Ke={colorFormat:t.RGBA8,depthFormat:Ue,scaleFactor:a};m=this.getBinding(),g=m.createProjectionLayer(Ke),r.updateRenderState({layers:[g]}),e.setPixelRatio(1),e.setSize(g.textureWidth,g.textureHeight,!1),F=new ii(g.textureWidth,g.textureHeight,{format:Ai,type:Jn,depthTexture:new ir(g.textureWidth,g.textureHeight,Qe,void 0,void 0,void 0,void 0,void 0,void 0,Ie),stencilBuffer:D.stencil,colorSpace:e.outputColorSpace,samples:D.antialias?4:0,resolveDepthBuffer:g.ignoreDepthValues===!1,resolveStencilBuffer:g.ignoreDepthValues===!1,storeMultisampledDepthBuffer:g.ignoreDepthValues===!1,storeMultisampledStencilBuffer:g.ignoreDepthValues===!1})}else{let Ie={antialias:D.antialias,alpha:!0,depth:D.depth,stencil:D.stencil,framebufferScaleFactor:a};v=new XRWebGLLayer(r,t,Ie),r.updateRenderState({baseLayer:v}),e.setPixelRatio(1),e.setSize(v.framebufferWidth,v.framebufferHeight,!1),F=new ii(v.framebufferWidth,v.framebufferHeight,{format:Ai,type:Jn,colorSpace:e.outputColorSpace,stencilBuffer:D.stencil,resolveDepthBuffer:v.ignoreDepthValues===!1,resolveStencilBuffer:v.ignoreDepthValues===!1,storeMultisampledDepthBuffer:v.ignoreDepthValues===!1,storeMultisampledStencilBuffer:v.ignoreDepthValues===!1})}F.isXRRenderTarget=!0,this.setFoveation(h),d=null,l=await r.requestReferenceSpace(c),at.setContext(r),at.start(),n.isPresenting=!0,n.dispatchEvent({type:"sessionstart"})}},this.getEnvironmentBlendMode=function(){if(r!==null)return r.environmentBlendMode},this.getDepthTexture=function(){return b.getDepthTexture()};function be(fe){for(let He=0;He<fe.removed.length;He++){let Ie=fe.removed[He],Qe=L.indexOf(Ie);Qe>=0&&(L[Qe]=null,k[Qe].disconnect(Ie))}for(let He=0;He<fe.added.length;He++){let Ie=fe.added[He],Qe=L.indexOf(Ie);if(Qe===-1){for(let Ke=0;Ke<k.length;Ke++)if(Ke>=L.length){L.push(Ie),Qe=Ke;break}else if(L[Ke]===null){L[Ke]=Ie,Qe=Ke;break}if(Qe===-1)break}let Ue=k[Qe];Ue&&Ue.connect(Ie)}}function ue(fe,He){He===null?fe.matrixWorld.copy(fe.matrix):fe.matrixWorld.multiplyMatrices(He.matrixWorld,fe.matrix),fe.matrixWorldInverse.copy(fe.matrixWorld).invert()}this.updateCamera=function(fe){if(r===null)return;let He=fe.near,Ie=fe.far;b.texture!==null&&(b.depthNear>0&&(He=b.depthNear),b.depthFar>0&&(Ie=b.depthFar)),ne.near=ee.near=V.near=He,ne.far=ee.far=V.far=Ie,(X!==ne.near||te!==ne.far)&&(r.updateRenderState({depthNear:ne.near,depthFar:ne.far}),X=ne.near,te=ne.far),ne.layers.mask=fe.layers.mask|6,V.layers.mask=ne.layers.mask&-5,ee.layers.mask=ne.layers.mask&-3;let Qe=fe.parent,Ue=ne.cameras;ue(ne,Qe);for(let Ke=0;Ke<Ue.length;Ke++)ue(Ue[Ke],Qe);ne.projectionMatrix.copy(V.projectionMatrix),ne.projectionMatrixInverse.copy(V.projectionMatrixInverse),J===null&&fe.isPerspectiveCamera&&(J={camera:fe,fov:fe.fov,zoom:fe.zoom}),$(fe,ne,Qe)};function $(fe,He,Ie){Ie===null?fe.matrix.copy(He.matrixWorld):(fe.matrix.copy(Ie.matrixWorld),fe.matrix.invert(),fe.matrix.multiply(He.matrixWorld)),fe.matrix.decompose(fe.position,fe.quaternion,fe.scale),fe.updateMatrixWorld(!0),fe.projectionMatrix.copy(He.projectionMatrix),fe.projectionMatrixInverse.copy(He.projectionMatrixInverse),fe.isPerspectiveCamera&&(fe.fov=Us*2*Math.atan(1/fe.projectionMatrix.elements[5]),fe.zoom=1)}this.getCamera=function(){return ne},this.getFoveation=function(){if(!(g===null&&v===null))return h},this.setFoveation=function(fe){h=fe,g!==null&&(g.fixedFoveation=fe),v!==null&&v.fixedFoveation!==void 0&&(v.fixedFoveation=fe)},this.hasDepthSensing=function(){return b.texture!==null},this.getDepthSensingMesh=function(){return b.getMesh(ne)},this.getCameraTexture=function(fe){return y[fe]};let ye=null;function qe(fe,He){if(p=He.getViewerPose(d||l),w=He,p!==null){let Ie=p.views;v!==null&&(e.setRenderTargetFramebuffer(F,v.framebuffer),e.setRenderTarget(F));let Qe=!1;Ie.length!==ne.cameras.length&&(ne.cameras.length=0,Qe=!0);for(let Oe=0;Oe<Ie.length;Oe++){let Dt=Ie[Oe],Bt=null;if(v!==null)Bt=v.getViewport(Dt);else{let Ht=m.getViewSubImage(g,Dt);Bt=Ht.viewport,Oe===0&&(e.setRenderTargetTextures(F,Ht.colorTexture,Ht.depthStencilTexture),e.setRenderTarget(F))}let bt=q[Oe];bt===void 0&&(bt=new Vn,bt.layers.enable(Oe),bt.viewport=new fn,q[Oe]=bt),bt.matrix.fromArray(Dt.transform.matrix),bt.matrix.decompose(bt.position,bt.quaternion,bt.scale),bt.projectionMatrix.fromArray(Dt.projectionMatrix),bt.projectionMatrixInverse.copy(bt.projectionMatrix).invert(),bt.viewport.set(Bt.x,Bt.y,Bt.width,Bt.height),Oe===0&&(ne.matrix.copy(bt.matrix),ne.matrix.decompose(ne.position,ne.quaternion,ne.scale)),Qe===!0&&ne.cameras.push(bt)}let Ue=r.enabledFeatures;if(Ue&&Ue.includes("depth-sensing")&&r.depthUsage=="gpu-optimized"&&C){m=n.getBinding();let Oe=m.getDepthInformation(Ie[0]);Oe&&Oe.isValid&&Oe.texture&&b.init(Oe,r.renderState)}if(Ue&&Ue.includes("camera-access")&&C){e.state.unbindTexture(),m=n.getBinding();for(let Oe=0;Oe<Ie.length;Oe++){let Dt=Ie[Oe].camera;if(Dt){let Bt=y[Dt];Bt||(Bt=new ka,y[Dt]=Bt);let bt=m.getCameraImage(Dt);Bt.sourceTexture=bt}}}}for(let Ie=0;Ie<k.length;Ie++){let Qe=L[Ie],Ue=k[Ie];Qe!==null&&Ue!==void 0&&Ue.update(Qe,He,d||l)}ye&&ye(fe,He),He.detectedPlanes&&n.dispatchEvent({type:"planesdetected",data:He}),w=null}let at=new im;at.setAnimationLoop(qe),this.setAnimationLoop=function(fe){ye=fe},this.dispose=function(){}}},JE=new Yt,fm=new yt;fm.set(-1,0,0,0,1,0,0,0,1);function ZE(i,e){function t(b,y){b.matrixAutoUpdate===!0&&b.updateMatrix(),y.value.copy(b.matrix)}function n(b,y){y.color.getRGB(b.fogColor.value,Uh(i)),y.isFog?(b.fogNear.value=y.near,b.fogFar.value=y.far):y.isFogExp2&&(b.fogDensity.value=y.density)}function r(b,y,D,U,F){y.isNodeMaterial?y.uniformsNeedUpdate=!1:y.isMeshBasicMaterial?a(b,y):y.isMeshLambertMaterial?(a(b,y),y.envMap&&(b.envMapIntensity.value=y.envMapIntensity)):y.isMeshToonMaterial?(a(b,y),m(b,y)):y.isMeshPhongMaterial?(a(b,y),p(b,y),y.envMap&&(b.envMapIntensity.value=y.envMapIntensity)):y.isMeshStandardMaterial?(a(b,y),g(b,y),y.isMeshPhysicalMaterial&&v(b,y,F)):y.isMeshMatcapMaterial?(a(b,y),w(b,y)):y.isMeshDepthMaterial?a(b,y):y.isMeshDistanceMaterial?(a(b,y),C(b,y)):y.isMeshNormalMaterial?a(b,y):y.isLineBasicMaterial?(l(b,y),y.isLineDashedMaterial&&c(b,y)):y.isPointsMaterial?h(b,y,D,U):y.isSpriteMaterial?d(b,y):y.isShadowMaterial?(b.color.value.copy(y.color),b.opacity.value=y.opacity):y.isShaderMaterial&&(y.uniformsNeedUpdate=!1)}function a(b,y){b.opacity.value=y.opacity,y.color&&b.diffuse.value.copy(y.color),y.emissive&&b.emissive.value.copy(y.emissive).multiplyScalar(y.emissiveIntensity),y.map&&(b.map.value=y.map,t(y.map,b.mapTransform)),y.alphaMap&&(b.alphaMap.value=y.alphaMap,t(y.alphaMap,b.alphaMapTransform)),y.bumpMap&&(b.bumpMap.value=y.bumpMap,t(y.bumpMap,b.bumpMapTransform),b.bumpScale.value=y.bumpScale,y.side===Xn&&(b.bumpScale.value*=-1)),y.normalMap&&(b.normalMap.value=y.normalMap,t(y.normalMap,b.normalMapTransform),b.normalScale.value.copy(y.normalScale),y.side===Xn&&b.normalScale.value.negate()),y.displacementMap&&(b.displacementMap.value=y.displacementMap,t(y.displacementMap,b.displacementMapTransform),b.displacementScale.value=y.displacementScale,b.displacementBias.value=y.displacementBias),y.emissiveMap&&(b.emissiveMap.value=y.emissiveMap,t(y.emissiveMap,b.emissiveMapTransform)),y.specularMap&&(b.specularMap.value=y.specularMap,t(y.specularMap,b.specularMapTransform)),y.alphaTest>0&&(b.alphaTest.value=y.alphaTest);let D=e.get(y),U=D.envMap,F=D.envMapRotation;U&&(b.envMap.value=U,b.envMapRotation.value.setFromMatrix4(JE.makeRotationFromEuler(F)).transpose(),U.isCubeTexture&&U.isRenderTargetTexture===!1&&b.envMapRotation.value.premultiply(fm),b.reflectivity.value=y.reflectivity,b.ior.value=y.ior,b.refractionRatio.value=y.refractionRatio),y.lightMap&&(b.lightMap.value=y.lightMap,b.lightMapIntensity.value=y.lightMapIntensity,t(y.lightMap,b.lightMapTransform)),y.aoMap&&(b.aoMap.value=y.aoMap,b.aoMapIntensity.value=y.aoMapIntensity,t(y.aoMap,b.aoMapTransform))}function l(b,y){b.diffuse.value.copy(y.color),b.opacity.value=y.opacity,y.map&&(b.map.value=y.map,t(y.map,b.mapTransform))}function c(b,y){b.dashSize.value=y.dashSize,b.totalSize.value=y.dashSize+y.gapSize,b.scale.value=y.scale}function h(b,y,D,U){b.diffuse.value.copy(y.color),b.opacity.value=y.opacity,b.size.value=y.size*D,b.scale.value=U*.5,y.map&&(b.map.value=y.map,t(y.map,b.uvTransform)),y.alphaMap&&(b.alphaMap.value=y.alphaMap,t(y.alphaMap,b.alphaMapTransform)),y.alphaTest>0&&(b.alphaTest.value=y.alphaTest)}function d(b,y){b.diffuse.value.copy(y.color),b.opacity.value=y.opacity,b.rotation.value=y.rotation,y.map&&(b.map.value=y.map,t(y.map,b.mapTransform)),y.alphaMap&&(b.alphaMap.value=y.alphaMap,t(y.alphaMap,b.alphaMapTransform)),y.alphaTest>0&&(b.alphaTest.value=y.alphaTest)}function p(b,y){b.specular.value.copy(y.specular),b.shininess.value=Math.max(y.shininess,1e-4)}function m(b,y){y.gradientMap&&(b.gradientMap.value=y.gradientMap)}function g(b,y){b.metalness.value=y.metalness,y.metalnessMap&&(b.metalnessMap.value=y.metalnessMap,t(y.metalnessMap,b.metalnessMapTransform)),b.roughness.value=y.roughness,y.roughnessMap&&(b.roughnessMap.value=y.roughnessMap,t(y.roughnessMap,b.roughnessMapTransform)),y.envMap&&(b.envMapIntensity.value=y.envMapIntensity)}function v(b,y,D){b.ior.value=y.ior,y.diffuseRoughness>0&&(b.diffuseRoughness.value=y.diffuseRoughness,y.diffuseRoughnessMap&&(b.diffuseRoughnessMap.value=y.diffuseRoughnessMap,t(y.diffuseRoughnessMap,b.diffuseRoughnessMapTransform))),y.sheen>0&&(b.sheenColor.value.copy(y.sheenColor).multiplyScalar(y.sheen),b.sheenRoughness.value=y.sheenRoughness,y.sheenColorMap&&(b.sheenColorMap.value=y.sheenColorMap,t(y.sheenColorMap,b.sheenColorMapTransform)),y.sheenRoughnessMap&&(b.sheenRoughnessMap.value=y.sheenRoughnessMap,t(y.sheenRoughnessMap,b.sheenRoughnessMapTransform))),y.clearcoat>0&&(b.clearcoat.value=y.clearcoat,b.clearcoatRoughness.value=y.clearcoatRoughness,y.clearcoatMap&&(b.clearcoatMap.value=y.clearcoatMap,t(y.clearcoatMap,b.clearcoatMapTransform)),y.clearcoatRoughnessMap&&(b.clearcoatRoughnessMap.value=y.clearcoatRoughnessMap,t(y.clearcoatRoughnessMap,b.clearcoatRoughnessMapTransform)),y.clearcoatNormalMap&&(b.clearcoatNormalMap.value=y.clearcoatNormalMap,t(y.clearcoatNormalMap,b.clearcoatNormalMapTransform),b.clearcoatNormalScale.value.copy(y.clearcoatNormalScale),y.side===Xn&&b.clearcoatNormalScale.value.negate())),y.dispersion>0&&(b.dispersion.value=y.dispersion),y.retroreflectivity>0&&(b.retroreflectivity.value=y.retroreflectivity),y.iridescence>0&&(b.iridescence.value=y.iridescence,b.iridescenceIOR.value=y.iridescenceIOR,b.iridescenceThicknessMinimum.value=y.iridescenceThicknessMinimum,b.iridescenceThicknessMaximum.value=y.iridescenceThicknessMaximum,y.iridescenceMap&&(b.iridescenceMap.value=y.iridescenceMap,t(y.iridescenceMap,b.iridescenceMapTransform)),y.iridescenceThicknessMap&&(b.iridescenceThicknessMap.value=y.iridescenceThicknessMap,t(y.iridescenceThicknessMap,b.iridescenceThicknessMapTransform))),y.transmission>0&&(b.transmission.value=y.transmission,b.transmissionSamplerMap.value=D.texture,b.transmissionSamplerSize.value.set(D.width,D.height),y.transmissionMap&&(b.transmissionMap.value=y.transmissionMap,t(y.transmissionMap,b.transmissionMapTransform)),b.thickness.value=y.thickness,y.thicknessMap&&(b.thicknessMap.value=y.thicknessMap,t(y.thicknessMap,b.thicknessMapTransform)),b.attenuationDistance.value=y.attenuationDistance,b.attenuationColor.value.copy(y.attenuationColor)),y.anisotropy>0&&(b.anisotropyVector.value.set(y.anisotropy*Math.cos(y.anisotropyRotation),y.anisotropy*Math.sin(y.anisotropyRotation)),y.anisotropyMap&&(b.anisotropyMap.value=y.anisotropyMap,t(y.anisotropyMap,b.anisotropyMapTransform))),b.specularIntensity.value=y.specularIntensity,b.specularColor.value.copy(y.specularColor),y.specularColorMap&&(b.specularColorMap.value=y.specularColorMap,t(y.specularColorMap,b.specularColorMapTransform)),y.specularIntensityMap&&(b.specularIntensityMap.value=y.specularIntensityMap,t(y.specularIntensityMap,b.specularIntensityMapTransform))}function w(b,y){y.matcap&&(b.matcap.value=y.matcap)}function C(b,y){let D=e.get(y).light;b.referencePosition.value.setFromMatrixPosition(D.matrixWorld),b.nearDistance.value=D.shadow.camera.near,b.farDistance.value=D.shadow.camera.far}return{refreshFogUniforms:n,refreshMaterialUniforms:r}}function KE(i,e,t,n){let r={},a={};function l(D,U){let F=U.program;n.uniformBlockBinding(D,F,r[D.id])}function c(D,U){let F=r[D.id];F===void 0&&(w(D),F=h(D),r[D.id]=F,D.addEventListener("dispose",b));let k=U.program;n.updateUBOMapping(D,k);let L=e.render.frame;a[D.id]!==L&&(d(D),a[D.id]=L)}function h(D){let U=i.createBuffer(),F=D.__size,k=D.usage;return i.bindBuffer(i.UNIFORM_BUFFER,U),i.bufferData(i.UNIFORM_BUFFER,F,k),i.bindBuffer(i.UNIFORM_BUFFER,null),U}function d(D){let U=r[D.id],F=D.uniforms,k=D.__cache;i.bindBuffer(i.UNIFORM_BUFFER,U);for(let L=0,E=F.length;L<E;L++){let N=F[L];if(Array.isArray(N))for(let J=0,V=N.length;J<V;J++)p(N[J],L,J,k);else p(N,L,0,k)}i.bindBuffer(i.UNIFORM_BUFFER,null)}function p(D,U,F,k){if(g(D,U,F,k)===!0){let L=D.__offset,E=D.value;if(Array.isArray(E)){let N=0;for(let J=0;J<E.length;J++){let V=E[J],ee=C(V,!0);m(V,D.__data,N),N+=ee.storage/Float32Array.BYTES_PER_ELEMENT}}else m(E,D.__data,0);i.bufferSubData(i.UNIFORM_BUFFER,L,D.__data)}}function m(D,U,F){typeof D=="number"||typeof D=="boolean"?U[F]=D:D.isMatrix3?(U[F]=D.elements[0],U[F+1]=D.elements[1],U[F+2]=D.elements[2],U[F+3]=0,U[F+4]=D.elements[3],U[F+5]=D.elements[4],U[F+6]=D.elements[5],U[F+7]=0,U[F+8]=D.elements[6],U[F+9]=D.elements[7],U[F+10]=D.elements[8],U[F+11]=0):ArrayBuffer.isView(D)?U.set(D.subarray(0,U.length-F),F):D.toArray(U,F)}function g(D,U,F,k){let L=D.value,E=U+"_"+F;if(Array.isArray(L)){k[E]===void 0&&(k[E]=[]);let N=k[E],J=!1;for(let V=0;V<L.length;V++)v(L[V],N,V)===!0&&(J=!0);return J}return v(L,k,E)}function v(D,U,F){if(U[F]===void 0)return typeof D=="number"||typeof D=="boolean"?U[F]=D:ArrayBuffer.isView(D)?U[F]=D.slice():U[F]=D.clone(),!0;{let k=U[F];if(typeof D=="number"||typeof D=="boolean"){if(k!==D)return U[F]=D,!0}else{if(ArrayBuffer.isView(D))return!0;if(k.equals(D)===!1)return k.copy(D),!0}}return!1}function w(D){let U=D.uniforms,F=0,k=16;for(let E=0,N=U.length;E<N;E++){let J=Array.isArray(U[E])?U[E]:[U[E]];for(let V=0,ee=J.length;V<ee;V++){let q=J[V],ne=Array.isArray(q.value)?q.value:[q.value],X=Array.isArray(U[E])||Array.isArray(q.value),te=F;for(let le=0,be=ne.length;le<be;le++){let ue=ne[le],$=C(ue,X),ye=F%k,qe=ye%$.boundary,at=ye+qe;F+=qe,at!==0&&k-at<$.storage&&(F+=k-at),le===0&&(te=F),F+=$.storage}let H=q.type==="int"?Int32Array:q.type==="uint"?Uint32Array:Float32Array;q.__data=new H((F-te)/Float32Array.BYTES_PER_ELEMENT),q.__offset=te}}let L=F%k;return L>0&&(F+=k-L),D.__size=F,D.__cache={},this}function C(D,U){let F={boundary:0,storage:0};return typeof D=="number"||typeof D=="boolean"?(F.boundary=4,F.storage=4):D.isVector2?(F.boundary=8,F.storage=8):D.isVector3||D.isColor?(F.boundary=16,F.storage=12):D.isVector4?(F.boundary=16,F.storage=16):D.isMatrix3?(F.boundary=16,F.storage=48):D.isMatrix4?(F.boundary=16,F.storage=64):D.isTexture?ht("WebGLRenderer: Texture samplers can not be part of an uniforms group."):ArrayBuffer.isView(D)?(F.boundary=16,F.storage=D.byteLength):ht("WebGLRenderer: Unsupported uniform value type.",D),U===!0&&(F.boundary=16,F.storage=Math.ceil(F.storage/16)*16),F}function b(D){let U=D.target;U.removeEventListener("dispose",b),i.deleteBuffer(r[U.id]),delete r[U.id],delete a[U.id]}function y(){for(let D in r)i.deleteBuffer(r[D]);r={},a={}}return{bind:l,update:c,dispose:y}}var QE=new Uint16Array([12469,15057,12620,14925,13266,14620,13807,14376,14323,13990,14545,13625,14713,13328,14840,12882,14931,12528,14996,12233,15039,11829,15066,11525,15080,11295,15085,10976,15082,10705,15073,10495,13880,14564,13898,14542,13977,14430,14158,14124,14393,13732,14556,13410,14702,12996,14814,12596,14891,12291,14937,11834,14957,11489,14958,11194,14943,10803,14921,10506,14893,10278,14858,9960,14484,14039,14487,14025,14499,13941,14524,13740,14574,13468,14654,13106,14743,12678,14818,12344,14867,11893,14889,11509,14893,11180,14881,10751,14852,10428,14812,10128,14765,9754,14712,9466,14764,13480,14764,13475,14766,13440,14766,13347,14769,13070,14786,12713,14816,12387,14844,11957,14860,11549,14868,11215,14855,10751,14825,10403,14782,10044,14729,9651,14666,9352,14599,9029,14967,12835,14966,12831,14963,12804,14954,12723,14936,12564,14917,12347,14900,11958,14886,11569,14878,11247,14859,10765,14828,10401,14784,10011,14727,9600,14660,9289,14586,8893,14508,8533,15111,12234,15110,12234,15104,12216,15092,12156,15067,12010,15028,11776,14981,11500,14942,11205,14902,10752,14861,10393,14812,9991,14752,9570,14682,9252,14603,8808,14519,8445,14431,8145,15209,11449,15208,11451,15202,11451,15190,11438,15163,11384,15117,11274,15055,10979,14994,10648,14932,10343,14871,9936,14803,9532,14729,9218,14645,8742,14556,8381,14461,8020,14365,7603,15273,10603,15272,10607,15267,10619,15256,10631,15231,10614,15182,10535,15118,10389,15042,10167,14963,9787,14883,9447,14800,9115,14710,8665,14615,8318,14514,7911,14411,7507,14279,7198,15314,9675,15313,9683,15309,9712,15298,9759,15277,9797,15229,9773,15166,9668,15084,9487,14995,9274,14898,8910,14800,8539,14697,8234,14590,7790,14479,7409,14367,7067,14178,6621,15337,8619,15337,8631,15333,8677,15325,8769,15305,8871,15264,8940,15202,8909,15119,8775,15022,8565,14916,8328,14804,8009,14688,7614,14569,7287,14448,6888,14321,6483,14088,6171,15350,7402,15350,7419,15347,7480,15340,7613,15322,7804,15287,7973,15229,8057,15148,8012,15046,7846,14933,7611,14810,7357,14682,7069,14552,6656,14421,6316,14251,5948,14007,5528,15356,5942,15356,5977,15353,6119,15348,6294,15332,6551,15302,6824,15249,7044,15171,7122,15070,7050,14949,6861,14818,6611,14679,6349,14538,6067,14398,5651,14189,5311,13935,4958,15359,4123,15359,4153,15356,4296,15353,4646,15338,5160,15311,5508,15263,5829,15188,6042,15088,6094,14966,6001,14826,5796,14678,5543,14527,5287,14377,4985,14133,4586,13869,4257,15360,1563,15360,1642,15358,2076,15354,2636,15341,3350,15317,4019,15273,4429,15203,4732,15105,4911,14981,4932,14836,4818,14679,4621,14517,4386,14359,4156,14083,3795,13808,3437,15360,122,15360,137,15358,285,15355,636,15344,1274,15322,2177,15281,2765,15215,3223,15120,3451,14995,3569,14846,3567,14681,3466,14511,3305,14344,3121,14037,2800,13753,2467,15360,0,15360,1,15359,21,15355,89,15346,253,15325,479,15287,796,15225,1148,15133,1492,15008,1749,14856,1882,14685,1886,14506,1783,14324,1608,13996,1398,13702,1183]),ki=null;function eT(){return ki===null&&(ki=new La(QE,16,16,Cr,Ti),ki.name="DFG_LUT",ki.minFilter=Hn,ki.magFilter=Hn,ki.wrapS=Di,ki.wrapT=Di,ki.generateMipmaps=!1,ki.needsUpdate=!0),ki}var Rc=class{constructor(e={}){let{canvas:t=Tp(),context:n=null,depth:r=!0,stencil:a=!1,alpha:l=!1,antialias:c=!1,premultipliedAlpha:h=!0,preserveDrawingBuffer:d=!1,powerPreference:p="default",failIfMajorPerformanceCaveat:m=!1,reversedDepthBuffer:g=!1,outputBufferType:v=Jn}=e;this.isWebGLRenderer=!0;let w;if(n!==null){if(typeof WebGLRenderingContext<"u"&&n instanceof WebGLRenderingContext)throw new Error("THREE.WebGLRenderer: WebGL 1 is not supported since r163.");w=n.getContextAttributes().alpha}else w=l;let C=v,b=new Set([ql,Xl,$l]),y=new Set([Jn,Ei,$s,jr,Vl,Hl]),D=new Uint32Array(4),U=new Int32Array(4),F={textures:[],min:[],max:[],resolution:[]},k=null,L=null,E=[],N=[],J=null;this.domElement=t,this.debug={checkShaderErrors:!0,diagnostics:{keywords:!1},onShaderError:null},this.autoClear=!0,this.autoClearColor=!0,this.autoClearDepth=!0,this.autoClearStencil=!0,this.sortObjects=!0,this.clippingPlanes=[],this.localClippingEnabled=!1,this.toneMapping=Bi,this.toneMappingExposure=1,this.transmissionResolutionScale=1;let V=this,ee=!1,q=null,ne=null,X=null,te=null;this._outputColorSpace=Nn;let H=0,le=0,be=null,ue=-1,$=null,ye=new fn,qe=new fn,at=null,fe=new wt(0),He=0,Ie=t.width,Qe=t.height,Ue=1,Ke=null,ct=null,Oe=new fn(0,0,Ie,Qe),Dt=new fn(0,0,Ie,Qe),Bt=!1,bt=new Sr,Ht=new vl,mt=!1,Wt=!1,Et=new Yt,gn=new re,ze=new fn,nt={background:null,fog:null,environment:null,overrideMaterial:null,isScene:!0},yn=!1;function rn(){return be===null?Ue:1}let Y=n;function ot(I,j){return t.getContext(I,j)}let $t,Xt,Ge,pn,it,lt,O,A,ie,we,ve,Se,Ae,de,me,ke,W,ge,he,Be,De,Fe,tt;try{let I={alpha:!0,depth:r,stencil:a,antialias:c,premultipliedAlpha:h,preserveDrawingBuffer:d,powerPreference:p,failIfMajorPerformanceCaveat:m};if("setAttribute"in t&&t.setAttribute("data-engine",`three.js r${"187"}`),t.addEventListener("webglcontextlost",rt,!1),t.addEventListener("webglcontextrestored",_t,!1),t.addEventListener("webglcontextcreationerror",We,!1),Y===null){let j="webgl2";if(Y=ot(j,I),Y===null)throw ot(j)?new Error("THREE.WebGLRenderer: Error creating WebGL context with your selected attributes."):new Error("THREE.WebGLRenderer: Error creating WebGL context.")}gt()}catch(I){throw t.removeEventListener("webglcontextlost",rt,!1),t.removeEventListener("webglcontextrestored",_t,!1),t.removeEventListener("webglcontextcreationerror",We,!1),pt("WebGLRenderer: "+I.message),I}function gt(){$t=new hM(Y),$t.init(),De=new qE(Y,$t),Xt=new eM(Y,$t,e,De),Ge=new $E(Y,$t),Xt.reversedDepthBuffer&&g&&Ge.buffers.depth.setReversed(!0),ne=Y.createFramebuffer(),X=Y.createFramebuffer(),te=Y.createFramebuffer(),pn=new pM(Y),it=new IE,lt=new XE(Y,$t,Ge,it,Xt,De,pn),O=new uM(V),A=new gb(Y),Fe=new Kw(Y,A),ie=new dM(Y,A,pn,Fe),we=new gM(Y,ie,A,Fe,pn),ge=new mM(Y,Xt,lt),me=new tM(it),ve=new PE(V,O,$t,Xt,Fe,me),Se=new ZE(V,it),Ae=new DE,de=new kE($t),W=new Zw(V,O,Ge,we,w,h),ke=new WE(V,we,Xt),tt=new KE(Y,pn,Xt,Ge),he=new Qw(Y,$t,pn),Be=new fM(Y,$t,pn),pn.programs=ve.programs,V.capabilities=Xt,V.extensions=$t,V.properties=it,V.renderLists=Ae,V.shadowMap=ke,V.state=Ge,V.info=pn}C!==Jn&&(J=new vM(C,t.width,t.height,c,r,a));let Re=new Yh(V,Y);this.xr=Re,this.getContext=function(){return Y},this.getContextAttributes=function(){return Y.getContextAttributes()},this.forceContextLoss=function(){let I=$t.get("WEBGL_lose_context");I&&I.loseContext()},this.forceContextRestore=function(){let I=$t.get("WEBGL_lose_context");I&&I.restoreContext()},this.getPixelRatio=function(){return Ue},this.setPixelRatio=function(I){I!==void 0&&(Ue=I,this.setSize(Ie,Qe,!1))},this.getSize=function(I){return I.set(Ie,Qe)},this.setSize=function(I,j,ce=!0){if(Re.isPresenting){ht("WebGLRenderer: Can't change size while VR device is presenting.");return}Ie=I,Qe=j,t.width=Math.floor(I*Ue),t.height=Math.floor(j*Ue),ce===!0&&(t.style.width=I+"px",t.style.height=j+"px"),J!==null&&J.setSize(t.width,t.height),this.setViewport(0,0,I,j)},this.getDrawingBufferSize=function(I){return I.set(Ie*Ue,Qe*Ue).floor()},this.setDrawingBufferSize=function(I,j,ce){Ie=I,Qe=j,Ue=ce,t.width=Math.floor(I*ce),t.height=Math.floor(j*ce),this.setViewport(0,0,I,j)},this.setEffects=function(I){if(C===Jn){pt("WebGLRenderer: setEffects() requires outputBufferType set to HalfFloatType or FloatType.");return}if(I){for(let j=0;j<I.length;j++)if(I[j].isOutputPass===!0){ht("WebGLRenderer: OutputPass is not needed in setEffects(). Tone mapping and color space conversion are applied automatically.");break}}J.setEffects(I||[])},this.getCurrentViewport=function(I){return I.copy(ye)},this.getViewport=function(I){return I.copy(Oe)},this.setViewport=function(I,j,ce,se){I.isVector4?Oe.set(I.x,I.y,I.z,I.w):Oe.set(I,j,ce,se),Ge.viewport(ye.copy(Oe).multiplyScalar(rn()).round())},this.getScissor=function(I){return I.copy(Dt)},this.setScissor=function(I,j,ce,se){I.isVector4?Dt.set(I.x,I.y,I.z,I.w):Dt.set(I,j,ce,se),Ge.scissor(qe.copy(Dt).multiplyScalar(rn()).round())},this.getScissorTest=function(){return Bt},this.setScissorTest=function(I){Ge.setScissorTest(Bt=I)},this.setOpaqueSort=function(I){Ke=I},this.setTransparentSort=function(I){ct=I},this.getClearColor=function(I){return I.copy(W.getClearColor())},this.setClearColor=function(){W.setClearColor(...arguments)},this.getClearAlpha=function(){return W.getClearAlpha()},this.setClearAlpha=function(){W.setClearAlpha(...arguments)},this.clear=function(I=!0,j=!0,ce=!0){let se=0;if(I){let K=!1;if(be!==null){let Ve=be.texture.format;K=b.has(Ve)}if(K){let Ve=be.texture.type,je=y.has(Ve),Ce=W.getClearColor(),$e=W.getClearAlpha(),Je=Ce.r,dt=Ce.g,Tt=Ce.b;je?(D[0]=Je,D[1]=dt,D[2]=Tt,D[3]=$e,Y.clearBufferuiv(Y.COLOR,0,D)):(U[0]=Je,U[1]=dt,U[2]=Tt,U[3]=$e,Y.clearBufferiv(Y.COLOR,0,U))}else se|=Y.COLOR_BUFFER_BIT}j&&(se|=Y.DEPTH_BUFFER_BIT,this.state.buffers.depth.setMask(!0)),ce&&(se|=Y.STENCIL_BUFFER_BIT,this.state.buffers.stencil.setMask(4294967295)),se!==0&&Y.clear(se)},this.clearColor=function(){this.clear(!0,!1,!1)},this.clearDepth=function(){this.clear(!1,!0,!1)},this.clearStencil=function(){this.clear(!1,!1,!0)},this.setNodesHandler=function(I){I.setRenderer(this),q=I},this.dispose=function(){t.removeEventListener("webglcontextlost",rt,!1),t.removeEventListener("webglcontextrestored",_t,!1),t.removeEventListener("webglcontextcreationerror",We,!1),W.dispose(),Ae.dispose(),de.dispose(),lt.dispose(),it.dispose(),O.dispose(),we.dispose(),ie.dispose(),Fe.dispose(),tt.dispose(),ve.dispose(),Re.dispose(),Re.removeEventListener("sessionstart",or),Re.removeEventListener("sessionend",_i),bn.stop()};function rt(I){I.preventDefault(),Ih("WebGLRenderer: Context Lost."),ee=!0}function _t(){Ih("WebGLRenderer: Context Restored."),ee=!1;let I=pn.autoReset,j=ke.enabled,ce=ke.autoUpdate,se=ke.needsUpdate,K=ke.type;gt(),pn.autoReset=I,ke.enabled=j,ke.autoUpdate=ce,ke.needsUpdate=se,ke.type=K}function We(I){pt("WebGLRenderer: A WebGL context could not be created. Reason: ",I.statusMessage)}function kt(I){let j=I.target;j.removeEventListener("dispose",kt),Kt(j)}function Kt(I){li(I),it.remove(I)}function li(I){let j=it.get(I).programs;j!==void 0&&(j.forEach(function(ce){ve.releaseProgram(ce)}),I.isShaderMaterial&&ve.releaseShaderCache(I))}this.renderBufferDirect=function(I,j,ce,se,K,Ve){j===null&&(j=nt);let je=K.isMesh&&K.matrixWorld.determinantAffine()<0,Ce=ia(I,j,ce,se,K);Ge.setMaterial(se,je);let $e=ce.index,Je=1;if(se.wireframe===!0){if($e=ie.getWireframeAttribute(ce),$e===void 0)return;Je=2}let dt=ce.drawRange,Tt=ce.attributes.position,Ze=dt.start*Je,ft=(dt.start+dt.count)*Je;Ve!==null&&(Ze=Math.max(Ze,Ve.start*Je),ft=Math.min(ft,(Ve.start+Ve.count)*Je)),$e!==null?(Ze=Math.max(Ze,0),ft=Math.min(ft,$e.count)):Tt!=null&&(Ze=Math.max(Ze,0),ft=Math.min(ft,Tt.count));let cn=ft-Ze;if(cn<0||cn===1/0)return;Fe.setup(K,se,Ce,ce,$e);let Ye,qt=he;if($e!==null&&(Ye=A.get($e),qt=Be,qt.setIndex(Ye)),K.isMesh)se.wireframe===!0?(Ge.setLineWidth(se.wireframeLinewidth*rn()),qt.setMode(Y.LINES)):qt.setMode(Y.TRIANGLES);else if(K.isLine){let _n=se.linewidth;_n===void 0&&(_n=1),Ge.setLineWidth(_n*rn()),K.isLineSegments?qt.setMode(Y.LINES):K.isLineLoop?qt.setMode(Y.LINE_LOOP):qt.setMode(Y.LINE_STRIP)}else K.isPoints?qt.setMode(Y.POINTS):K.isSprite&&qt.setMode(Y.TRIANGLES);if(K.isBatchedMesh)if($t.get("WEBGL_multi_draw"))qt.renderMultiDraw(K._multiDrawStarts,K._multiDrawCounts,K._multiDrawCount);else{let _n=K._multiDrawStarts,et=K._multiDrawCounts,on=K._multiDrawCount,Ft=$e?A.get($e).bytesPerElement:1,Bn=it.get(se).currentProgram.getUniforms();for(let vn=0;vn<on;vn++)Bn.setValue(Y,"_gl_DrawID",vn),qt.render(_n[vn]/Ft,et[vn])}else if(K.isInstancedMesh)qt.renderInstances(Ze,cn,K.count);else if(ce.isInstancedBufferGeometry){let _n=ce._maxInstanceCount!==void 0?ce._maxInstanceCount:1/0,et=Math.min(ce.instanceCount,_n);qt.renderInstances(Ze,cn,et)}else qt.render(Ze,cn)};function Ee(I,j,ce,se){q!==null&&I.isNodeMaterial&&q.setObject(se,I),mt===!0&&me.setState(I,ce,!1),I.transparent===!0&&I.side===Oi&&I.forceSinglePass===!1?(I.side=Xn,I.needsUpdate=!0,Vi(I,j,se),I.side=Rr,I.needsUpdate=!0,Vi(I,j,se),I.side=Oi):Vi(I,j,se)}this.compile=function(I,j,ce=null){ce===null&&(ce=I),q!==null&&q.renderStart(I,j,ce),L=de.get(ce),L.init(j),N.push(L),ce.traverseVisible(function(K){K.isLight&&K.layers.test(j.layers)&&(L.pushLight(K),K.castShadow&&L.pushShadow(K))}),I!==ce&&I.traverseVisible(function(K){K.isLight&&K.layers.test(j.layers)&&(L.pushLight(K),K.castShadow&&L.pushShadow(K))}),L.setupLights(),q!==null&&q.updateLights(L.state.lightsArray),Wt=this.localClippingEnabled,mt=me.init(this.clippingPlanes,Wt),mt===!0&&me.setGlobalState(this.clippingPlanes,j),q!==null&&ke.render(L.state.shadowsArray,ce,j);let se=new Set;return I.traverse(function(K){if(!(K.isMesh||K.isPoints||K.isLine||K.isSprite))return;let Ve=K.material;if(Ve)if(Array.isArray(Ve))for(let je=0;je<Ve.length;je++){let Ce=Ve[je];Ee(Ce,ce,j,K),se.add(Ce)}else Ee(Ve,ce,j,K),se.add(Ve)}),L=N.pop(),q!==null&&q.renderEnd(),se},this.compileAsync=function(I,j,ce=null){let se=this.compile(I,j,ce);return new Promise(K=>{function Ve(){if(se.forEach(function(je){let $e=it.get(je).currentProgram;($e===void 0||$e.isReady())&&se.delete(je)}),se.size===0){K(I);return}setTimeout(Ve,10)}$t.get("KHR_parallel_shader_compile")!==null?Ve():setTimeout(Ve,10)})};let Me=null;function Zn(I){Me&&Me(I)}function or(){bn.stop()}function _i(){bn.start()}let bn=new im;bn.setAnimationLoop(Zn),typeof self<"u"&&bn.setContext(self),this.setAnimationLoop=function(I){Me=I,Re.setAnimationLoop(I),I===null?bn.stop():bn.start()},Re.addEventListener("sessionstart",or),Re.addEventListener("sessionend",_i),this.render=function(I,j){if(j!==void 0&&j.isCamera!==!0){pt("WebGLRenderer.render: camera is not an instance of THREE.Camera.");return}if(ee===!0)return;q!==null&&q.renderStart(I,j);let ce=Re.enabled===!0&&Re.isPresenting===!0,se=J!==null&&(be===null||ce)&&J.begin(V,be);if(I.matrixWorldAutoUpdate===!0&&I.updateMatrixWorld(),j.parent===null&&j.matrixWorldAutoUpdate===!0&&j.updateMatrixWorld(),Re.enabled===!0&&Re.isPresenting===!0&&(J===null||J.isCompositing()===!1)&&(Re.cameraAutoUpdate===!0&&Re.updateCamera(j),j=Re.getCamera()),I.isScene===!0&&I.onBeforeRender(V,I,j,be),L=de.get(I,N.length),L.init(j),L.state.textureUnits=lt.getTextureUnits(),N.push(L),Et.multiplyMatrices(j.projectionMatrix,j.matrixWorldInverse),j.isArrayCamera?Ht.setFromArrayCamera(j):bt.setFromProjectionMatrix(Et,fi,j.reversedDepth),Wt=this.localClippingEnabled,mt=me.init(this.clippingPlanes,Wt),k=Ae.get(I,E.length),k.init(),E.push(k),this.info.render.frame++,Re.enabled===!0&&Re.isPresenting===!0){let je=V.xr.getDepthSensingMesh();je!==null&&Gi(je,j,-1/0,V.sortObjects)}Gi(I,j,0,V.sortObjects),k.finish(),q!==null&&q.updateLights(L.state.lightsArray),V.sortObjects===!0&&k.sort(Ke,ct),yn=Re.enabled===!1||Re.isPresenting===!1||Re.hasDepthSensing()===!1,yn&&W.addToRenderList(k,I),this.info.autoReset===!0&&this.info.reset(),mt===!0&&me.beginShadows();let K=L.state.shadowsArray;if(ke.render(K,I,j),mt===!0&&me.endShadows(),(se&&J.hasRenderPass())===!1){let je=k.opaque,Ce=k.transmissive;if(L.setupLights(),j.isArrayCamera){let $e=j.cameras;if(Ce.length>0)for(let Je=0,dt=$e.length;Je<dt;Je++){let Tt=$e[Je];vi(je,Ce,I,Tt)}yn&&W.render(I);for(let Je=0,dt=$e.length;Je<dt;Je++){let Tt=$e[Je];qn(k,I,Tt,Tt.viewport)}}else Ce.length>0&&vi(je,Ce,I,j),yn&&W.render(I),qn(k,I,j)}be!==null&&le===0&&(lt.updateMultisampleRenderTarget(be),lt.updateRenderTargetMipmap(be)),se&&J.end(V),I.isScene===!0&&I.onAfterRender(V,I,j),Fe.resetDefaultState(),ue=-1,$=null,N.pop(),N.length>0?(L=N[N.length-1],lt.setTextureUnits(L.state.textureUnits),mt===!0&&me.setGlobalState(V.clippingPlanes,L.state.camera)):L=null,E.pop(),E.length>0?k=E[E.length-1]:k=null,q!==null&&q.renderEnd()};function Gi(I,j,ce,se){if(I.visible===!1)return;if(I.layers.test(j.layers)){if(I.isGroup)ce=I.renderOrder;else if(I.isLOD)I.autoUpdate===!0&&I.update(j);else if(I.isLight)L.pushLight(I),I.castShadow&&L.pushShadow(I);else if(I.isSprite){let je=j.isArrayCamera?Ht:bt;if(!I.frustumCulled||I.intersectsFrustum(je)){se&&ze.setFromMatrixPosition(I.matrixWorld).applyMatrix4(Et);let Ce=we.update(I),$e=I.material;$e.visible&&k.push(I,Ce,$e,ce,ze.z,null,j)}}else if(I.isMesh||I.isLine||I.isPoints){let je=j.isArrayCamera?Ht:bt;if(!I.frustumCulled||I.intersectsFrustum(je)){let Ce=we.update(I),$e=I.material;if(se&&(I.boundingSphere!==void 0?(I.boundingSphere===null&&I.computeBoundingSphere(),ze.copy(I.boundingSphere.center)):(Ce.boundingSphere===null&&Ce.computeBoundingSphere(),ze.copy(Ce.boundingSphere.center)),ze.applyMatrix4(I.matrixWorld).applyMatrix4(Et)),Array.isArray($e)){let Je=Ce.groups;for(let dt=0,Tt=Je.length;dt<Tt;dt++){let Ze=Je[dt],ft=$e[Ze.materialIndex];ft&&ft.visible&&k.push(I,Ce,ft,ce,ze.z,Ze,j)}}else $e.visible&&k.push(I,Ce,$e,ce,ze.z,null,j)}}}let Ve=I.children;for(let je=0,Ce=Ve.length;je<Ce;je++)Gi(Ve[je],j,ce,se)}function qn(I,j,ce,se){let{opaque:K,transmissive:Ve,transparent:je}=I;L.setupLightsView(ce),mt===!0&&me.setGlobalState(V.clippingPlanes,ce),se&&Ge.viewport(ye.copy(se)),K.length>0&&yi(K,j,ce),Ve.length>0&&yi(Ve,j,ce),je.length>0&&yi(je,j,ce),Ge.buffers.depth.setTest(!0),Ge.buffers.depth.setMask(!0),Ge.buffers.color.setMask(!0),Ge.setPolygonOffset(!1)}function vi(I,j,ce,se){if((ce.isScene===!0?ce.overrideMaterial:null)!==null)return;if(L.state.transmissionRenderTarget[se.id]===void 0){let Ze=$t.has("EXT_color_buffer_half_float")||$t.has("EXT_color_buffer_float");L.state.transmissionRenderTarget[se.id]=new ii(1,1,{generateMipmaps:!0,type:Ze?Ti:Jn,minFilter:rr,samples:Math.max(4,Xt.samples),stencilBuffer:a,resolveDepthBuffer:!1,resolveStencilBuffer:!1,storeMultisampledDepthBuffer:!1,storeMultisampledStencilBuffer:!1,colorSpace:Ut.workingColorSpace})}let Ve=L.state.transmissionRenderTarget[se.id],je=se.viewport||ye;Ve.setSize(je.z*V.transmissionResolutionScale,je.w*V.transmissionResolutionScale);let Ce=V.getRenderTarget(),$e=V.getActiveCubeFace(),Je=V.getActiveMipmapLevel();V.setRenderTarget(Ve),V.getClearColor(fe),He=V.getClearAlpha(),He<1&&V.setClearColor(16777215,.5),V.clear(),yn&&W.render(ce);let dt=V.toneMapping;V.toneMapping=Bi;let Tt=se.viewport;if(se.viewport!==void 0&&(se.viewport=void 0),L.setupLightsView(se),mt===!0&&me.setGlobalState(V.clippingPlanes,se),yi(I,ce,se),lt.updateMultisampleRenderTarget(Ve),lt.updateRenderTargetMipmap(Ve),$t.has("WEBGL_multisampled_render_to_texture")===!1){let Ze=!1;for(let ft=0,cn=j.length;ft<cn;ft++){let Ye=j[ft],{object:qt,geometry:_n,material:et,group:on}=Ye;if(et.side===Oi&&qt.layers.test(se.layers)){let Ft=et.side;et.side=Xn,et.needsUpdate=!0,ns(qt,ce,se,_n,et,on),et.side=Ft,et.needsUpdate=!0,Ze=!0}}Ze===!0&&(lt.updateMultisampleRenderTarget(Ve),lt.updateRenderTargetMipmap(Ve))}V.setRenderTarget(Ce,$e,Je),V.setClearColor(fe,He),Tt!==void 0&&(se.viewport=Tt),V.toneMapping=dt}function yi(I,j,ce){let se=j.isScene===!0?j.overrideMaterial:null;for(let K=0,Ve=I.length;K<Ve;K++){let je=I[K],{object:Ce,geometry:$e,group:Je}=je,dt=je.material;dt.allowOverride===!0&&se!==null&&(dt=se),Ce.layers.test(ce.layers)&&ns(Ce,j,ce,$e,dt,Je)}}function ns(I,j,ce,se,K,Ve){q!==null&&K.isNodeMaterial&&q.setObject(I,K),I.onBeforeRender(V,j,ce,se,K,Ve),I.modelViewMatrix.multiplyMatrices(ce.matrixWorldInverse,I.matrixWorld),I.normalMatrix.getNormalMatrix(I.modelViewMatrix),K.onBeforeRender(V,j,ce,se,I,Ve),K.transparent===!0&&K.side===Oi&&K.forceSinglePass===!1?(K.side=Xn,K.needsUpdate=!0,V.renderBufferDirect(ce,j,se,K,I,Ve),K.side=Rr,K.needsUpdate=!0,V.renderBufferDirect(ce,j,se,K,I,Ve),K.side=Oi):V.renderBufferDirect(ce,j,se,K,I,Ve),I.onAfterRender(V,j,ce,se,K,Ve)}function Pn(I){let j=0;for(let ce of I)ce.texture!==null&&j++;return j}function Vi(I,j,ce){j.isScene!==!0&&(j=nt);let se=it.get(I),K=L.state.lights,Ve=L.state.shadowsArray,je=K.state.version,Ce=ve.getParameters(I,K.state,Ve,j,ce,L.state.lightProbeGridArray),$e=ve.getProgramCacheKey(Ce),Je=se.programs;se.environment=I.isMeshStandardMaterial||I.isMeshLambertMaterial||I.isMeshPhongMaterial?j.environment:null,se.fog=j.fog;let dt=I.isMeshStandardMaterial||I.isMeshLambertMaterial&&!I.envMap||I.isMeshPhongMaterial&&!I.envMap;se.envMap=O.get(I.envMap||se.environment,dt),se.envMapRotation=se.environment!==null&&I.envMap===null?j.environmentRotation:I.envMapRotation,Je===void 0&&(I.addEventListener("dispose",kt),Je=new Map,se.programs=Je,se.programVariants=new Map);let Tt=Je.get($e);if(Tt!==void 0){if(se.currentProgram===Tt&&se.lightsStateVersion===je)return cr(I,Ce),Tt}else Ce.uniforms=ve.getUniforms(I),q!==null&&I.isNodeMaterial&&q.build(I,ce,Ce),I.onBeforeCompile(Ce,V),Tt=ve.acquireProgram(Ce,$e),Je.set($e,Tt),se.uniforms=Ce.uniforms;let Ze=se.uniforms;return(!I.isShaderMaterial&&!I.isRawShaderMaterial||I.clipping===!0)&&(Ze.clippingPlanes=me.uniform),cr(I,Ce),se.needsLights=rs(I),se.lightsStateVersion=je,se.needsLights&&(Ze.ambientLightColor.value=K.state.ambient,Ze.lightProbe.value=K.state.probe,Ze.sunLights.value=K.state.sun,Ze.sunLightShadows.value=K.state.sunShadow,Ze.directionalLights.value=K.state.directional,Ze.directionalLightShadows.value=K.state.directionalShadow,Ze.spotLights.value=K.state.spot,Ze.spotLightShadows.value=K.state.spotShadow,Ze.rectAreaLights.value=K.state.rectArea,Ze.ltc_1.value=K.state.rectAreaLTC1,Ze.ltc_2.value=K.state.rectAreaLTC2,Ze.pointLights.value=K.state.point,Ze.pointLightShadows.value=K.state.pointShadow,Ze.hemisphereLights.value=K.state.hemi,Ze.sunShadowMatrix.value=K.state.sunShadowMatrix,Ze.sunShadowCascade.value=K.state.sunShadowCascade,Ze.directionalShadowMatrix.value=K.state.directionalShadowMatrix,Ze.spotLightMatrix.value=K.state.spotLightMatrix,Ze.spotLightMap.value=K.state.spotLightMap,Ze.pointShadowMatrix.value=K.state.pointShadowMatrix),se.numLightProbeGrids=Pn(L.state.lightProbeGridArray),se.currentProgram=Tt,se.uniformsList=null,Tt}function lr(I,j,ce,se,K){let Ve=it.get(I),je=Ve.currentProgram.id+","+se+","+K,Ce=Ve.programVariants.get(je);return Ce===void 0?(Ce=Vi(I,j,ce),Ve.programVariants.set(je,Ce)):(Ve.currentProgram=Ce,Ve.uniformsList=null,Ve.outputColorSpace=se,Ve.toneMapping=K),Ce}function Hi(I){if(I.uniformsList===null){let j=I.currentProgram.getUniforms();I.uniformsList=qs.seqWithValue(j.seq,I.uniforms)}return I.uniformsList}function cr(I,j){let ce=it.get(I);ce.outputColorSpace=j.outputColorSpace,ce.batching=j.batching,ce.batchingColor=j.batchingColor,ce.instancing=j.instancing,ce.instancingColor=j.instancingColor,ce.instancingMorph=j.instancingMorph,ce.skinning=j.skinning,ce.morphTargets=j.morphTargets,ce.morphNormals=j.morphNormals,ce.morphColors=j.morphColors,ce.morphTargetsCount=j.morphTargetsCount,ce.numClippingPlanes=j.numClippingPlanes,ce.numIntersection=j.numClipIntersection,ce.vertexAlphas=j.vertexAlphas,ce.vertexTangents=j.vertexTangents,ce.toneMapping=j.toneMapping}function ia(I,j,ce,se,K){j.isScene!==!0&&(j=nt),lt.resetTextureUnits();let Ve=j.fog,je=se.isMeshStandardMaterial||se.isMeshLambertMaterial||se.isMeshPhongMaterial?j.environment:null,Ce=be===null?V.outputColorSpace:be.isXRRenderTarget===!0?be.texture.colorSpace:Ut.workingColorSpace,$e=se.isMeshStandardMaterial||se.isMeshLambertMaterial&&!se.envMap||se.isMeshPhongMaterial&&!se.envMap,Je=O.get(se.envMap||je,$e),dt=se.vertexColors===!0&&!!ce.attributes.color&&ce.attributes.color.itemSize===4,Tt=!!ce.attributes.tangent&&(!!se.normalMap||se.anisotropy>0),Ze=!!ce.morphAttributes.position,ft=!!ce.morphAttributes.normal,cn=!!ce.morphAttributes.color,Ye=Bi;se.toneMapped&&(be===null||be.isXRRenderTarget===!0)&&(Ye=V.toneMapping);let qt=ce.morphAttributes.position||ce.morphAttributes.normal||ce.morphAttributes.color,_n=qt!==void 0?qt.length:0,et=it.get(se),on=L.state.lights;if(mt===!0&&(Wt===!0||I!==$)){let jt=I===$&&se.id===ue;me.setState(se,I,jt)}let Ft=!1,Bn=!1;se.version===et.__version?et.needsLights&&et.lightsStateVersion!==on.state.version||K.isBatchedMesh&&et.batching===!1||!K.isBatchedMesh&&et.batching===!0||K.isBatchedMesh&&et.batchingColor===!0&&K._colorsTexture===null||K.isBatchedMesh&&et.batchingColor===!1&&K._colorsTexture!==null||K.isInstancedMesh&&et.instancing===!1||!K.isInstancedMesh&&et.instancing===!0||K.isSkinnedMesh&&et.skinning===!1||!K.isSkinnedMesh&&et.skinning===!0||K.isInstancedMesh&&et.instancingColor===!0&&K.instanceColor===null||K.isInstancedMesh&&et.instancingColor===!1&&K.instanceColor!==null||K.isInstancedMesh&&et.instancingMorph===!0&&K.morphTexture===null||K.isInstancedMesh&&et.instancingMorph===!1&&K.morphTexture!==null||et.envMap!==Je||se.fog===!0&&et.fog!==Ve||et.numClippingPlanes!==void 0&&(et.numClippingPlanes!==me.numPlanes||et.numIntersection!==me.numIntersection)||et.vertexAlphas!==dt||et.vertexTangents!==Tt||et.morphTargets!==Ze||et.morphNormals!==ft||et.morphColors!==cn||et.morphTargetsCount!==_n||et.numLightProbeGrids!==Pn(L.state.lightProbeGridArray)?Ft=!0:(et.outputColorSpace!==Ce||et.toneMapping!==Ye)&&(Bn=!0):(Ft=!0,et.__version=se.version);let vn=et.currentProgram;(Ft===!0||Bn===!0)&&(vn=Bn===!0?lr(se,j,K,Ce,Ye):Vi(se,j,K),q&&se.isNodeMaterial&&q.onUpdateProgram(se,vn,et));let Ci=!1,kn=!1,ci=!1,M=vn.getUniforms(),vt=et.uniforms;if(Ge.useProgram(vn.program)&&(Ci=!0,kn=!0,ci=!0),se.id!==ue&&(ue=se.id,kn=!0),Ci||$!==I){Ge.buffers.depth.getReversed()&&I.reversedDepth!==!0&&(I._reversedDepth=!0,I.updateProjectionMatrix()),M.setValue(Y,"projectionMatrix",I.projectionMatrix),M.setValue(Y,"viewMatrix",I.matrixWorldInverse);let Qt=M.map.cameraPosition;Qt!==void 0&&Qt.setValue(Y,gn.setFromMatrixPosition(I.matrixWorld)),Xt.logarithmicDepthBuffer&&M.setValue(Y,"logDepthBufFC",2/(Math.log(I.far+1)/Math.LN2)),(se.isMeshPhongMaterial||se.isMeshToonMaterial||se.isMeshLambertMaterial||se.isMeshBasicMaterial||se.isMeshStandardMaterial||se.isShaderMaterial)&&M.setValue(Y,"isOrthographic",I.isOrthographicCamera===!0),$!==I&&($=I,kn=!0,ci=!0)}if(et.needsLights&&(on.state.sunShadowMap.length>0&&M.setValue(Y,"sunShadowMap",on.state.sunShadowMap,lt),on.state.directionalShadowMap.length>0&&M.setValue(Y,"directionalShadowMap",on.state.directionalShadowMap,lt),on.state.spotShadowMap.length>0&&M.setValue(Y,"spotShadowMap",on.state.spotShadowMap,lt),on.state.pointShadowMap.length>0&&M.setValue(Y,"pointShadowMap",on.state.pointShadowMap,lt)),K.isSkinnedMesh){M.setOptional(Y,K,"bindMatrix"),M.setOptional(Y,K,"bindMatrixInverse");let jt=K.skeleton;jt&&(jt.boneTexture===null&&jt.computeBoneTexture(),M.setValue(Y,"boneTexture",jt.boneTexture,lt))}K.isBatchedMesh&&(M.setOptional(Y,K,"batchingTexture"),M.setValue(Y,"batchingTexture",K._matricesTexture,lt),M.setOptional(Y,K,"batchingIdTexture"),M.setValue(Y,"batchingIdTexture",K._indirectTexture,lt),M.setOptional(Y,K,"batchingColorTexture"),K._colorsTexture!==null&&M.setValue(Y,"batchingColorTexture",K._colorsTexture,lt));let Cn=ce.morphAttributes;if((Cn.position!==void 0||Cn.normal!==void 0||Cn.color!==void 0)&&ge.update(K,ce,vn),(kn||et.receiveShadow!==K.receiveShadow)&&(et.receiveShadow=K.receiveShadow,M.setValue(Y,"receiveShadow",K.receiveShadow)),(se.isMeshStandardMaterial||se.isMeshLambertMaterial||se.isMeshPhongMaterial)&&se.envMap===null&&j.environment!==null&&(vt.envMapIntensity.value=j.environmentIntensity),vt.dfgLUT!==void 0&&(vt.dfgLUT.value=eT()),kn){if(M.setValue(Y,"toneMappingExposure",V.toneMappingExposure),et.needsLights&&is(vt,ci),Ve&&se.fog===!0&&Se.refreshFogUniforms(vt,Ve),Se.refreshMaterialUniforms(vt,se,Ue,Qe,L.state.transmissionRenderTarget[I.id]),et.needsLights&&et.numLightProbeGrids>0){let jt=F,Qt=0;for(let jn of L.state.lightProbeGridArray)jn.texture!==null&&(jt.textures[Qt]=jn.texture,jt.min[Qt]=jn.boundingBox.min,jt.max[Qt]=jn.boundingBox.max,jt.resolution[Qt]=jn.resolution,Qt++);for(let jn in jt)jt[jn].length=Qt;vt.probesSH.value=jt.textures,vt.probesMin.value=jt.min,vt.probesMax.value=jt.max,vt.probesResolution.value=jt.resolution}qs.upload(Y,Hi(et),vt,lt)}if(se.isShaderMaterial&&se.uniformsNeedUpdate===!0&&(qs.upload(Y,Hi(et),vt,lt),se.uniformsNeedUpdate=!1),se.isSpriteMaterial&&M.setValue(Y,"center",K.center),M.setValue(Y,"modelViewMatrix",K.modelViewMatrix),M.setValue(Y,"normalMatrix",K.normalMatrix),M.setValue(Y,"modelMatrix",K.matrixWorld),se.uniformsGroups!==void 0){let jt=se.uniformsGroups;for(let Qt=0,jn=jt.length;Qt<jn;Qt++){let Lr=jt[Qt];tt.update(Lr,vn),tt.bind(Lr,vn)}}return vn}function is(I,j){I.ambientLightColor.needsUpdate=j,I.lightProbe.needsUpdate=j,I.sunLights.needsUpdate=j,I.sunLightShadows.needsUpdate=j,I.directionalLights.needsUpdate=j,I.directionalLightShadows.needsUpdate=j,I.pointLights.needsUpdate=j,I.pointLightShadows.needsUpdate=j,I.spotLights.needsUpdate=j,I.spotLightShadows.needsUpdate=j,I.rectAreaLights.needsUpdate=j,I.hemisphereLights.needsUpdate=j}function rs(I){return I.isMeshLambertMaterial||I.isMeshToonMaterial||I.isMeshPhongMaterial||I.isMeshStandardMaterial||I.isShadowMaterial||I.isShaderMaterial&&I.lights===!0}this.getActiveCubeFace=function(){return H},this.getActiveMipmapLevel=function(){return le},this.getRenderTarget=function(){return be},this.setRenderTargetTextures=function(I,j,ce){let se=it.get(I);se.__autoAllocateDepthBuffer=I.resolveDepthBuffer===!1,se.__autoAllocateDepthBuffer===!1&&(se.__useRenderToTexture=!1),it.get(I.texture).__webglTexture=j,it.get(I.depthTexture).__webglTexture=se.__autoAllocateDepthBuffer?void 0:ce,se.__hasExternalTextures=!0},this.setRenderTargetFramebuffer=function(I,j){let ce=it.get(I);ce.__webglFramebuffer=j,ce.__useDefaultFramebuffer=j===void 0},this.setRenderTarget=function(I,j=0,ce=0){be=I,H=j,le=ce;let se=null,K=!1,Ve=!1;if(I){let Ce=it.get(I);if(Ce.__useDefaultFramebuffer!==void 0){Ge.bindFramebuffer(Y.FRAMEBUFFER,Ce.__webglFramebuffer),ye.copy(I.viewport),qe.copy(I.scissor),at=I.scissorTest,Ge.viewport(ye),Ge.scissor(qe),Ge.setScissorTest(at),ue=-1;return}else if(Ce.__webglFramebuffer===void 0)lt.setupRenderTarget(I);else if(Ce.__hasExternalTextures)lt.rebindTextures(I,it.get(I.texture).__webglTexture,it.get(I.depthTexture).__webglTexture);else if(I.depthBuffer){let dt=I.depthTexture;if(Ce.__boundDepthTexture!==dt){if(dt!==null&&it.has(dt)&&(I.width!==dt.image.width||I.height!==dt.image.height))throw new Error("THREE.WebGLRenderer: Attached DepthTexture is initialized to the incorrect size.");lt.setupDepthRenderbuffer(I)}}let $e=I.texture;($e.isData3DTexture||$e.isDataArrayTexture||$e.isCompressedArrayTexture)&&(Ve=!0);let Je=it.get(I).__webglFramebuffer;I.isWebGLCubeRenderTarget?(Array.isArray(Je[j])?se=Je[j][ce]:se=Je[j],K=!0):I.samples>0&&lt.useMultisampledRTT(I)===!1?se=it.get(I).__webglMultisampledFramebuffer:Array.isArray(Je)?se=Je[ce]:se=Je,ye.copy(I.viewport),qe.copy(I.scissor),at=I.scissorTest}else ye.copy(Oe).multiplyScalar(Ue).floor(),qe.copy(Dt).multiplyScalar(Ue).floor(),at=Bt;if(ce!==0&&(se=ne),Ge.bindFramebuffer(Y.FRAMEBUFFER,se)&&Ge.drawBuffers(I,se),Ge.viewport(ye),Ge.scissor(qe),Ge.setScissorTest(at),K){let Ce=it.get(I.texture);Y.framebufferTexture2D(Y.FRAMEBUFFER,Y.COLOR_ATTACHMENT0,Y.TEXTURE_CUBE_MAP_POSITIVE_X+j,Ce.__webglTexture,ce)}else if(Ve){let Ce=j;for(let $e=0;$e<I.textures.length;$e++){let Je=it.get(I.textures[$e]);Y.framebufferTextureLayer(Y.FRAMEBUFFER,Y.COLOR_ATTACHMENT0+$e,Je.__webglTexture,ce,Ce)}}else if(I!==null&&ce!==0){let Ce=it.get(I.texture);Y.framebufferTexture2D(Y.FRAMEBUFFER,Y.COLOR_ATTACHMENT0,Y.TEXTURE_2D,Ce.__webglTexture,ce)}ue=-1};function ur(I){let j=it.get(I);return(j.__readFormat!==I.format||j.__readType!==I.type)&&(j.__readFormat=I.format,j.__readType=I.type,j.__formatReadable=Xt.textureFormatReadable(I.format),j.__typeReadable=Xt.textureTypeReadable(I.type)),j}this.readRenderTargetPixels=function(I,j,ce,se,K,Ve,je,Ce=0){if(!(I&&I.isWebGLRenderTarget)){pt("WebGLRenderer.readRenderTargetPixels: renderTarget is not THREE.WebGLRenderTarget.");return}let $e=it.get(I).__webglFramebuffer;if(I.isWebGLCubeRenderTarget&&je!==void 0&&($e=$e[je],Array.isArray($e)&&($e=$e[0])),$e){Ge.bindFramebuffer(Y.FRAMEBUFFER,$e);try{let Je=I.textures[Ce],dt=Je.format,Tt=Je.type;I.textures.length>1&&Y.readBuffer(Y.COLOR_ATTACHMENT0+Ce);let Ze=ur(Je);if(Ze.__formatReadable===!1){pt("WebGLRenderer.readRenderTargetPixels: renderTarget is not in RGBA or implementation defined format.");return}if(Ze.__typeReadable===!1){pt("WebGLRenderer.readRenderTargetPixels: renderTarget is not in UnsignedByteType or implementation defined type.");return}j>=0&&j<=I.width-se&&ce>=0&&ce<=I.height-K&&Y.readPixels(j,ce,se,K,De.convert(dt),De.convert(Tt),Ve)}finally{let Je=be!==null?it.get(be).__webglFramebuffer:null;Ge.bindFramebuffer(Y.FRAMEBUFFER,Je)}}},this.readRenderTargetPixelsAsync=async function(I,j,ce,se,K,Ve,je,Ce=0){if(!(I&&I.isWebGLRenderTarget))throw new Error("THREE.WebGLRenderer.readRenderTargetPixels: renderTarget is not THREE.WebGLRenderTarget.");let $e=it.get(I).__webglFramebuffer;if(I.isWebGLCubeRenderTarget&&je!==void 0&&($e=$e[je],Array.isArray($e)&&($e=$e[0])),$e)if(j>=0&&j<=I.width-se&&ce>=0&&ce<=I.height-K){Ge.bindFramebuffer(Y.FRAMEBUFFER,$e);let Je=I.textures[Ce],dt=Je.format,Tt=Je.type;I.textures.length>1&&Y.readBuffer(Y.COLOR_ATTACHMENT0+Ce);let Ze=ur(Je);if(Ze.__formatReadable===!1)throw new Error("THREE.WebGLRenderer.readRenderTargetPixelsAsync: renderTarget is not in RGBA or implementation defined format.");if(Ze.__typeReadable===!1)throw new Error("THREE.WebGLRenderer.readRenderTargetPixelsAsync: renderTarget is not in UnsignedByteType or implementation defined type.");let ft=Y.createBuffer();Y.bindBuffer(Y.PIXEL_PACK_BUFFER,ft),Y.bufferData(Y.PIXEL_PACK_BUFFER,Ve.byteLength,Y.STREAM_READ),Y.readPixels(j,ce,se,K,De.convert(dt),De.convert(Tt),0),Y.bindBuffer(Y.PIXEL_PACK_BUFFER,null);let cn=be!==null?it.get(be).__webglFramebuffer:null;Ge.bindFramebuffer(Y.FRAMEBUFFER,cn);let Ye=Y.fenceSync(Y.SYNC_GPU_COMMANDS_COMPLETE,0);return Y.flush(),await Rp(Y,Ye,4),Y.bindBuffer(Y.PIXEL_PACK_BUFFER,ft),Y.getBufferSubData(Y.PIXEL_PACK_BUFFER,0,Ve),Y.bindBuffer(Y.PIXEL_PACK_BUFFER,null),Y.deleteBuffer(ft),Y.deleteSync(Ye),Ve}else throw new Error("THREE.WebGLRenderer.readRenderTargetPixelsAsync: requested read bounds are out of range.")},this.copyFramebufferToTexture=function(I,j=null,ce=0){let se=Math.pow(2,-ce),K=Math.floor(I.image.width*se),Ve=Math.floor(I.image.height*se),je=j!==null?j.x:0,Ce=j!==null?j.y:0;lt.setTexture2D(I,0),Y.copyTexSubImage2D(Y.TEXTURE_2D,ce,0,0,je,Ce,K,Ve),Ge.unbindTexture()},this.copyTextureToTexture=function(I,j,ce=null,se=null,K=0,Ve=0){let je,Ce,$e,Je,dt,Tt,Ze,ft,cn,Ye=I.isCompressedTexture?I.mipmaps[Ve]:I.image;if(ce!==null)je=ce.max.x-ce.min.x,Ce=ce.max.y-ce.min.y,$e=ce.isBox3?ce.max.z-ce.min.z:1,Je=ce.min.x,dt=ce.min.y,Tt=ce.isBox3?ce.min.z:0;else{let M=Math.pow(2,-K);je=Math.floor(Ye.width*M),Ce=Math.floor(Ye.height*M),I.isDataArrayTexture?$e=Ye.depth:I.isData3DTexture?$e=Math.floor(Ye.depth*M):$e=1,Je=0,dt=0,Tt=0}se!==null?(Ze=se.x,ft=se.y,cn=se.z):(Ze=0,ft=0,cn=0);let qt=De.convert(j.format),_n=De.convert(j.type),et;j.isData3DTexture?(lt.setTexture3D(j,0),et=Y.TEXTURE_3D):j.isDataArrayTexture||j.isCompressedArrayTexture?(lt.setTexture2DArray(j,0),et=Y.TEXTURE_2D_ARRAY):(lt.setTexture2D(j,0),et=Y.TEXTURE_2D),Ge.activeTexture(Y.TEXTURE0),Ge.pixelStorei(Y.UNPACK_FLIP_Y_WEBGL,j.flipY),Ge.pixelStorei(Y.UNPACK_PREMULTIPLY_ALPHA_WEBGL,j.premultiplyAlpha),Ge.pixelStorei(Y.UNPACK_ALIGNMENT,j.unpackAlignment);let on=Ge.getParameter(Y.UNPACK_ROW_LENGTH),Ft=Ge.getParameter(Y.UNPACK_IMAGE_HEIGHT),Bn=Ge.getParameter(Y.UNPACK_SKIP_PIXELS),vn=Ge.getParameter(Y.UNPACK_SKIP_ROWS),Ci=Ge.getParameter(Y.UNPACK_SKIP_IMAGES);Ge.pixelStorei(Y.UNPACK_ROW_LENGTH,Ye.width),Ge.pixelStorei(Y.UNPACK_IMAGE_HEIGHT,Ye.height),Ge.pixelStorei(Y.UNPACK_SKIP_PIXELS,Je),Ge.pixelStorei(Y.UNPACK_SKIP_ROWS,dt),Ge.pixelStorei(Y.UNPACK_SKIP_IMAGES,Tt);let kn=I.isDataArrayTexture||I.isData3DTexture,ci=j.isDataArrayTexture||j.isData3DTexture;if(I.isDepthTexture){let M=it.get(I),vt=it.get(j),Cn=it.get(M.__renderTarget),jt=it.get(vt.__renderTarget);Ge.bindFramebuffer(Y.READ_FRAMEBUFFER,Cn.__webglFramebuffer),Ge.bindFramebuffer(Y.DRAW_FRAMEBUFFER,jt.__webglFramebuffer);for(let Qt=0;Qt<$e;Qt++)kn&&(Y.framebufferTextureLayer(Y.READ_FRAMEBUFFER,Y.COLOR_ATTACHMENT0,it.get(I).__webglTexture,K,Tt+Qt),Y.framebufferTextureLayer(Y.DRAW_FRAMEBUFFER,Y.COLOR_ATTACHMENT0,it.get(j).__webglTexture,Ve,cn+Qt)),Y.blitFramebuffer(Je,dt,Je+je,dt+Ce,Ze,ft,Ze+je,ft+Ce,Y.DEPTH_BUFFER_BIT,Y.NEAREST);Ge.bindFramebuffer(Y.READ_FRAMEBUFFER,null),Ge.bindFramebuffer(Y.DRAW_FRAMEBUFFER,null)}else if(K!==0||I.isRenderTargetTexture||it.has(I)){let M=it.get(I),vt=it.get(j);Ge.bindFramebuffer(Y.READ_FRAMEBUFFER,X),Ge.bindFramebuffer(Y.DRAW_FRAMEBUFFER,te);for(let Cn=0;Cn<$e;Cn++)kn?Y.framebufferTextureLayer(Y.READ_FRAMEBUFFER,Y.COLOR_ATTACHMENT0,M.__webglTexture,K,Tt+Cn):Y.framebufferTexture2D(Y.READ_FRAMEBUFFER,Y.COLOR_ATTACHMENT0,Y.TEXTURE_2D,M.__webglTexture,K),ci?Y.framebufferTextureLayer(Y.DRAW_FRAMEBUFFER,Y.COLOR_ATTACHMENT0,vt.__webglTexture,Ve,cn+Cn):Y.framebufferTexture2D(Y.DRAW_FRAMEBUFFER,Y.COLOR_ATTACHMENT0,Y.TEXTURE_2D,vt.__webglTexture,Ve),K!==0?Y.blitFramebuffer(Je,dt,Je+je,dt+Ce,Ze,ft,Ze+je,ft+Ce,Y.COLOR_BUFFER_BIT,Y.NEAREST):ci?Y.copyTexSubImage3D(et,Ve,Ze,ft,cn+Cn,Je,dt,je,Ce):Y.copyTexSubImage2D(et,Ve,Ze,ft,Je,dt,je,Ce);Ge.bindFramebuffer(Y.READ_FRAMEBUFFER,null),Ge.bindFramebuffer(Y.DRAW_FRAMEBUFFER,null)}else ci?I.isDataTexture||I.isData3DTexture?Y.texSubImage3D(et,Ve,Ze,ft,cn,je,Ce,$e,qt,_n,Ye.data):j.isCompressedArrayTexture?Y.compressedTexSubImage3D(et,Ve,Ze,ft,cn,je,Ce,$e,qt,Ye.data):Y.texSubImage3D(et,Ve,Ze,ft,cn,je,Ce,$e,qt,_n,Ye):I.isDataTexture?Y.texSubImage2D(Y.TEXTURE_2D,Ve,Ze,ft,je,Ce,qt,_n,Ye.data):I.isCompressedTexture?Y.compressedTexSubImage2D(Y.TEXTURE_2D,Ve,Ze,ft,Ye.width,Ye.height,qt,Ye.data):Y.texSubImage2D(Y.TEXTURE_2D,Ve,Ze,ft,je,Ce,qt,_n,Ye);Ge.pixelStorei(Y.UNPACK_ROW_LENGTH,on),Ge.pixelStorei(Y.UNPACK_IMAGE_HEIGHT,Ft),Ge.pixelStorei(Y.UNPACK_SKIP_PIXELS,Bn),Ge.pixelStorei(Y.UNPACK_SKIP_ROWS,vn),Ge.pixelStorei(Y.UNPACK_SKIP_IMAGES,Ci),Ve===0&&j.generateMipmaps===!0&&j.mipmapsAutoUpdate===!0&&Y.generateMipmap(et),Ge.unbindTexture()},this.initRenderTarget=function(I){it.get(I).__webglFramebuffer===void 0&&lt.setupRenderTarget(I)},this.initTexture=function(I){I.isCubeTexture?lt.setTextureCube(I,0):I.isData3DTexture?lt.setTexture3D(I,0):I.isDataArrayTexture||I.isCompressedArrayTexture?lt.setTexture2DArray(I,0):lt.setTexture2D(I,0),Ge.unbindTexture()},this.resetState=function(){H=0,le=0,be=null,Ge.reset(),Fe.reset()},typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("observe",{detail:this}))}get coordinateSystem(){return fi}get outputColorSpace(){return this._outputColorSpace}set outputColorSpace(e){this._outputColorSpace=e;let t=this.getContext();t.drawingBufferColorSpace=Ut._getDrawingBufferColorSpace(e),t.unpackColorSpace=Ut._getUnpackColorSpace()}};var tT=3,nT=[.005,.011],iT=.12,mm=new wt(14279916),[gm,rT]=[new wt(4878245),new wt(14100029)],Ic=class{scene=new Ra;camera=new Vn(45,1,.02,200);renderer;sun=new Xa(16777215,2.2);target=new re;yaw=-2.4;pitch=.35;distance=2.5;constructor(e){this.renderer=new Rc({canvas:e,antialias:!0}),this.renderer.shadowMap.enabled=!0,this.renderer.setPixelRatio(Math.min(window.devicePixelRatio,2)),this.camera.up.set(0,0,1),this.scene.background=mm,this.scene.fog=new Aa(mm,12,40),this.scene.add(new Ha(16777215,9080724,1.6)),this.sun.castShadow=!0,this.sun.shadow.mapSize.set(1024,1024),this.sun.shadow.bias=-5e-4,this.sun.shadow.normalBias=.02,this.scene.add(this.sun,this.sun.target)}view(e,t){this.distance=Math.min(Math.max(2.6*e,.8),8);let n=1.5*this.distance,r=this.sun.shadow.camera;[r.left,r.right,r.top,r.bottom]=[-n,n,n,-n],r.updateProjectionMatrix(),this.target.set(t[0],t[1],t[2])}follow(e,t){let n=1-Math.exp(-t/iT);this.target.lerp(new re(e[0],e[1],e[2]),n)}turn(e,t){this.yaw-=e*.006,this.pitch=Math.min(Math.max(this.pitch+t*.006,-.1),1.5)}simplify(){this.sun.castShadow?this.sun.castShadow=!1:this.renderer.setPixelRatio(Math.max(.5,.7*this.renderer.getPixelRatio()))}zoom(e){this.distance=Math.min(Math.max(this.distance*e,.3),20)}ray(e,t){let n=new Lt(2*e/window.innerWidth-1,1-2*t/window.innerHeight),r=new Gs;return r.setFromCamera(n,this.camera),{from:r.ray.origin,direction:r.ray.direction}}draw(){let[e,t]=[window.innerWidth,window.innerHeight],n=this.renderer.getSize(new Lt);(n.x!==e||n.y!==t)&&(this.renderer.setSize(e,t,!1),this.camera.aspect=e/t,this.camera.updateProjectionMatrix());let r=this.distance*Math.max(1,1/this.camera.aspect),a=Math.cos(this.pitch)*r,l=new re(Math.cos(this.yaw)*a,Math.sin(this.yaw)*a,Math.sin(this.pitch)*r);this.camera.position.copy(this.target).add(l),this.camera.position.z=Math.max(this.camera.position.z,.05),this.camera.lookAt(this.target),this.sun.position.copy(this.target).add(new re(-2,-3,6)),this.sun.target.position.copy(this.target),this.renderer.render(this.scene,this.camera)}},Lc=class{constructor(e,t,n){this.stage=e;this.mujoco=t;this.model=n;for(let r=0;r<n.ngeom;r++){let a=this.geomMesh(r);a!==null&&(this.geoms.push({mesh:a,id:r}),this.group.add(a))}this.tendons=n.ntendon>0?new Jh(n):null,this.tendons!==null&&this.group.add(this.tendons.tubes),this.arrow=new qa,this.arrow.setColor(14711327),this.arrow.visible=!1,this.group.add(this.arrow),e.scene.add(this.group)}stage;mujoco;model;group=new Zi;geoms=[];marks=[];tendons;arrow;update(e){let[t,n]=[e.geom_xpos,e.geom_xmat];for(let{mesh:r,id:a}of this.geoms){let l=n.subarray(9*a,9*a+9),c=t.subarray(3*a,3*a+3);r.matrix.set(l[0],l[1],l[2],c[0],l[3],l[4],l[5],c[1],l[6],l[7],l[8],c[2],0,0,0,1)}this.tendons?.update(e)}pick({from:e,direction:t}){let n=new Gs(e,t),r=this.geoms.map(({mesh:h})=>h),[a]=n.intersectObjects(r,!1),l=this.geoms.find(({mesh:h})=>h===a?.object),c=l===void 0?0:this.model.geom_bodyid[l.id];return c>0?{body:c,point:a.point}:null}mark(e){for(;this.marks.length<e.length;){let t=new Wr({color:3126874,transparent:!0,opacity:.55}),n=new Un(new Hr(.03,24,16),t);this.marks.push(n),this.group.add(n)}this.marks.forEach((t,n)=>{t.visible=n<e.length,t.visible&&t.position.set(e[n][0],e[n][1],e[n][2])})}push(e){if(this.arrow.visible=e!==null,e!==null){let t=new re(e.from[0],e.from[1],e.from[2]),n=new re(e.to[0],e.to[1],e.to[2]).sub(t),r=Math.max(n.length(),.001);this.arrow.position.copy(t),this.arrow.setDirection(n.divideScalar(r)),this.arrow.setLength(r,Math.min(.08,r),.05)}}release(){this.stage.scene.remove(this.group),this.group.traverse(e=>{let{geometry:t,material:n}=e;t?.dispose(),[n].flat().forEach(r=>r?.dispose())})}geomMesh(e){let{model:t}=this,n=t.geom_matid[e],r=n>=0?t.mat_rgba.subarray(4*n,4*n+4):t.geom_rgba.subarray(4*e,4*e+4);if(t.geom_group[e]>=tT||r[3]===0)return null;let a=this.shape(e);if(a===null)return null;let l=t.geom_type[e]===this.mujoco.mjtGeom.mjGEOM_PLANE.value,c=new Wr({color:new wt().setRGB(r[0],r[1],r[2],Nn),roughness:.65,transparent:r[3]<1,opacity:r[3]});l&&(c.color.set(16777215),c.map=uT(),c.roughness=.9);let h=new Un(a,c);return h.castShadow=!l,h.receiveShadow=!0,h.matrixAutoUpdate=!1,h}shape(e){let{model:t}=this,n=this.mujoco.mjtGeom,[r,a,l]=t.geom_size.subarray(3*e,3*e+3);switch(t.geom_type[e]){case n.mjGEOM_PLANE.value:return cT(r,a);case n.mjGEOM_SPHERE.value:return new Hr(r,24,16);case n.mjGEOM_CAPSULE.value:return new za(r,2*a,8,20).rotateX(Math.PI/2);case n.mjGEOM_ELLIPSOID.value:return new Hr(1,24,16).scale(r,a,l);case n.mjGEOM_CYLINDER.value:return new Vr(r,r,2*a,32).rotateX(Math.PI/2);case n.mjGEOM_BOX.value:return new wr(2*r,2*a,2*l);case n.mjGEOM_MESH.value:return oT(t,t.geom_dataid[e]);case n.mjGEOM_HFIELD.value:return lT(t,t.geom_dataid[e]);default:return null}}},Jh=class{constructor(e){this.model=e;let t=new Vr(1,1,1,8,1,!0),n=2*e.nwrap,r=new Wr({roughness:.5});this.tubes=new Fa(t,r,n),this.tubes.setColorAt(0,gm),this.tubes.frustumCulled=!1,this.muscles=aT(e)}model;tubes;muscles;update(e){let{model:t,tubes:n}=this,[r,a]=[e.ten_wrapadr,e.ten_wrapnum],l=e.wrap_xpos;n.count=0;for(let c=0;c<t.ntendon;c++){let h=this.muscles[c],d=h>=0?Zh(t,e,h):0,p=gm.clone().lerp(rT,d),m=Nh.lerp(...nT,d);for(let g=r[c];g+1<r[c]+a[c];g++)n.setMatrixAt(n.count,sT(l.subarray(3*g,3*g+6),m)),n.setColorAt(n.count,p),n.count+=1}n.instanceMatrix.needsUpdate=!0,n.instanceColor.needsUpdate=!0}};function sT(i,e){let[t,n]=[0,3].map(h=>new re(...i.subarray(h,h+3))),r=n.clone().sub(t),a=Math.max(r.length(),1e-6),l=new pi().setFromUnitVectors(new re(0,1,0),r.divideScalar(a)),c=t.lerp(n,.5);return new Yt().compose(c,l,new re(e,a,e))}function Zh(i,e,t){let n=i.actuator_actadr[t];return n>=0?e.act[n]:e.ctrl[t]}function aT(i){let e=new Array(i.ntendon).fill(-1),t=3;for(let n=0;n<i.nu;n++)i.actuator_trntype[n]===t&&(e[i.actuator_trnid[2*n]]=n);return e}function oT(i,e){let[t,n]=[i.mesh_vertadr[e],i.mesh_vertnum[e]],[r,a]=[i.mesh_faceadr[e],i.mesh_facenum[e]],l=new $n,c=i.mesh_vert.slice(3*t,3*(t+n)),h=i.mesh_face.slice(3*r,3*(r+a));l.setAttribute("position",new Yn(c,3)),l.setIndex(new Yn(Uint32Array.from(h),1));let d=l.toNonIndexed();return d.computeVertexNormals(),d}function lT(i,e){let[t,n]=[i.hfield_nrow[e],i.hfield_ncol[e]],[r,a,l]=i.hfield_size.subarray(4*e,4*e+4),c=new Mr(2*r,2*a,n-1,t-1),h=c.attributes.position,d=i.hfield_adr[e];for(let p=0;p<t;p++)for(let m=0;m<n;m++){let g=i.hfield_data[d+(t-1-p)*n+m];h.setZ(p*n+m,g*l)}return c.computeVertexNormals(),c}function cT(i,e){let[t,n]=[i||100,e||100],r=new Mr(2*t,2*n),a=r.attributes.uv;for(let l=0;l<a.count;l++)a.setXY(l,(a.getX(l)-.5)*2*t,(a.getY(l)-.5)*2*n);return r}function uT(){let i=document.createElement("canvas");i.width=i.height=256;let e=i.getContext("2d");e.fillStyle="#c3ccd3",e.fillRect(0,0,256,256),e.fillStyle="#b4bec7",e.fillRect(0,0,128,128),e.fillRect(128,128,128,128);let t=new Oa(i);return t.wrapS=t.wrapT=Ds,t.colorSpace=Nn,t.anisotropy=8,t}var sn=class extends Error{},_m=4,hT=/"checksum": "sha256:([0-9a-f]{64})"/g,dT="scene.xml",Dc=class i{constructor(e,t,n){this.name=e;this.content=t;this.texts=n;this.contract=JSON.parse(this.text("contract"))}name;content;texts;contract;static read(e,t){let n=pT(e);if(n.trimStart().startsWith("{"))throw new sn(`${t} is JSON, not ONNX: open the .onnx file next to it.`);let r;try{r=mT(e)}catch{throw new sn(`${t} is not an ONNX file, or it is damaged.`)}let a=[...n.matchAll(hT)];if(!r.has("contract")||a.length===0)throw new sn(`${t} has no contract: it is not a policy that mjlab export wrote.`);if(a.length>1||!gT(e,a[0]))throw new sn(`${t} is damaged: its content does not match its checksum.`);let l=new i(t,e,r);if(l.contract.format!==_m)throw new sn(`${t} has format ${l.contract.format}, but this page supports ${_m}: export the policy again.`);return l}model(e){return ao(this.text(e))}async scene(){let{lacks:e}=this.contract.model;if(e!==null)throw new sn(`The model is missing from ${this.name}: ${e}.`);let t=await _T(await oo(ao(this.text("scene")),"deflate"));if(!t.has(dT))throw new sn(`The model is missing from ${this.name}.`);return t}async record(){let e=await oo(ao(this.text("record")),"deflate"),t={},n=0;for(let{name:r,shape:a,dtype:l}of this.contract.record.fields){let c=fT[l];if(c===void 0)continue;let h=a.reduce((d,p)=>d*p,1)*c.BYTES_PER_ELEMENT;t[r]=new c(e.slice(n,n+h).buffer),n+=h}return t}text(e){let t=this.texts.get(e);if(t===void 0)throw new sn(`${this.name} has no entry ${e}: export the policy again.`);return t}},fT={float32:Float32Array,float64:Float64Array};async function oo(i,e){let t=new Blob([i]).stream().pipeThrough(new DecompressionStream(e));return new Uint8Array(await new Response(t).arrayBuffer())}function ao(i){let e=atob(i),t=new Uint8Array(e.length);for(let n=0;n<e.length;n++)t[n]=e.charCodeAt(n);return t}function pT(i){return new TextDecoder("latin1").decode(i)}function mT(i){let e=new Map;for(let[t,n]of vm(i))if(t===14){let r=new Map(vm(n)),[a,l]=[1,2].map(c=>new TextDecoder().decode(r.get(c)));e.set(a,l)}return e}function*vm(i){let e=0,t=()=>{let n=0;for(let r=1;;r*=128){let a=i[e++];if(a===void 0||r>2**63)throw new RangeError("truncated");if(n+=(a&127)*r,a<128)return n}};for(;e<i.length;){let n=t(),[r,a]=[Math.floor(n/8),n%8];if(a===0)t();else if(a===2){let l=t();if(e+l>i.length)throw new RangeError("truncated");yield[r,i.subarray(e,e+l)],e+=l}else if(a===1||a===5)e+=a===1?8:4;else throw new RangeError(`wire type ${a}`)}}function gT(i,e){let t=i.slice(),n=e.index+e[0].indexOf(e[1]);return t.fill(48,n,n+e[1].length),vT(t)===e[1]}async function _T(i){let e=new DataView(i.buffer,i.byteOffset,i.byteLength),t=i.length-22;for(;t>=0&&e.getUint32(t,!0)!==101010256;)t--;if(t<0)throw new sn("The model of the file is not a zip archive.");let n=new Map,r=e.getUint32(t+16,!0);for(let a=e.getUint16(t+10,!0);a>0;a--){let l=e.getUint16(r+10,!0),c=e.getUint32(r+20,!0),[h,d,p]=[28,30,32].map(b=>e.getUint16(r+b,!0)),m=e.getUint32(r+42,!0),g=i.subarray(r+46,r+46+h),v=e.getUint16(m+26,!0)+e.getUint16(m+28,!0),w=i.subarray(m+30+v,m+30+v+c),C=l===0?w:await oo(w,"deflate-raw");n.set(new TextDecoder().decode(g),C),r+=46+h+d+p}return n}function vT(i){let e=new Uint8Array(Math.ceil((i.length+9)/64)*64);e.set(i),e[i.length]=128;let t=new DataView(e.buffer);t.setUint32(e.length-8,Math.floor(i.length/2**29)),t.setUint32(e.length-4,i.length*8>>>0);let n=ym.slice(0,8).map(l=>xm(Math.sqrt(l))),r=new Uint32Array(64),a=(l,c)=>l>>>c|l<<32-c;for(let l=0;l<e.length;l+=64){for(let C=0;C<16;C++)r[C]=t.getUint32(l+4*C);for(let C=16;C<64;C++){let[b,y]=[r[C-15],r[C-2]],D=a(b,7)^a(b,18)^b>>>3,U=a(y,17)^a(y,19)^y>>>10;r[C]=r[C-16]+D+r[C-7]+U}let[c,h,d,p,m,g,v,w]=n;for(let C=0;C<64;C++){let b=m&g^~m&v,y=c&h^c&d^h&d,D=a(m,6)^a(m,11)^a(m,25),U=a(c,2)^a(c,13)^a(c,22),F=w+D+b+yT[C]+r[C]|0;[w,v,g,m,p,d,h,c]=[v,g,m,p+F|0,d,h,c,F+U+y|0]}[c,h,d,p,m,g,v,w].forEach((C,b)=>n[b]=n[b]+C|0)}return n.map(l=>(l>>>0).toString(16).padStart(8,"0")).join("")}var ym=xT(64),yT=ym.map(i=>xm(Math.cbrt(i)));function xT(i){let e=[];for(let t=2;e.length<i;t++)e.every(n=>t%n!==0)&&e.push(t);return e}function xm(i){return i%1*2**32|0}var bT=(async function(i={}){var e,t=i,n=typeof window=="object",r=typeof WorkerGlobalScope<"u",a=typeof process=="object"&&process.versions?.node&&process.type!="renderer",l=!n&&!a&&!r;if(a){let{createRequire:s}=await import("module");var c=s(document.baseURI)}var h=[],d="./this.program",p=(s,o)=>{throw o},m=document.baseURI,g="";function v(s){return t.locateFile?t.locateFile(s,g):g+s}var w,C;if(a){if(!(typeof process=="object"&&process.versions?.node&&process.type!="renderer"))throw new Error("not compiled for this environment (did you build to HTML and try to run it not on the web, or set ENVIRONMENT to something - like node - and run it someplace else - like on the web?)");var b=process.versions.node,y=b.split(".").slice(0,3);if(y=y[0]*1e4+y[1]*100+y[2].split("-")[0]*1,y<16e4)throw new Error("This emscripten-generated code requires node v16.0.0 (detected v"+b+")");var D=c("fs");m.startsWith("file:")&&(g=c("path").dirname(c("url").fileURLToPath(m))+"/"),C=o=>{o=le(o)?new URL(o):o;var u=D.readFileSync(o);return H(Buffer.isBuffer(u)),u},w=async(o,u=!0)=>{o=le(o)?new URL(o):o;var f=D.readFileSync(o,u?void 0:"utf8");return H(u?Buffer.isBuffer(f):typeof f=="string"),f},process.argv.length>1&&(d=process.argv[1].replace(/\\/g,"/")),h=process.argv.slice(2),p=(o,u)=>{throw process.exitCode=o,u}}else if(l){if(typeof process=="object"&&process.versions?.node&&process.type!="renderer"||typeof window=="object"||typeof WorkerGlobalScope<"u")throw new Error("not compiled for this environment (did you build to HTML and try to run it not on the web, or set ENVIRONMENT to something - like node - and run it someplace else - like on the web?)")}else if(n||r){try{g=new URL(".",m).href}catch{}if(!(typeof window=="object"||typeof WorkerGlobalScope<"u"))throw new Error("not compiled for this environment (did you build to HTML and try to run it not on the web, or set ENVIRONMENT to something - like node - and run it someplace else - like on the web?)");r&&(C=s=>{var o=new XMLHttpRequest;return o.open("GET",s,!1),o.responseType="arraybuffer",o.send(null),new Uint8Array(o.response)}),w=async s=>{if(le(s))return new Promise((u,f)=>{var _=new XMLHttpRequest;_.open("GET",s,!0),_.responseType="arraybuffer",_.onload=()=>{if(_.status==200||_.status==0&&_.response){u(_.response);return}f(_.status)},_.onerror=f,_.send(null)});var o=await fetch(s,{credentials:"same-origin"});if(o.ok)return o.arrayBuffer();throw new Error(o.status+" : "+o.url)}}else throw new Error("environment detection error");var U=console.log.bind(console),F=console.error.bind(console),k="IDBFS is no longer included by default; build with -lidbfs.js",L="PROXYFS is no longer included by default; build with -lproxyfs.js",E="WORKERFS is no longer included by default; build with -lworkerfs.js",N="FETCHFS is no longer included by default; build with -lfetchfs.js",J="ICASEFS is no longer included by default; build with -licasefs.js",V="JSFILEFS is no longer included by default; build with -ljsfilefs.js",ee="OPFS is no longer included by default; build with -lopfs.js",q="NODEFS is no longer included by default; build with -lnodefs.js";H(!l,"shell environment detected but not enabled at build time.  Add `shell` to `-sENVIRONMENT` to enable.");var ne;typeof WebAssembly!="object"&&F("no native wasm support detected");var X=!1,te;function H(s,o){s||Se("Assertion failed"+(o?": "+o:""))}var le=s=>s.startsWith("file://");function be(){var s=Au();H((s&3)==0),s==0&&(s+=4),nt[s>>2]=34821223,nt[s+4>>2]=2310721022,nt[0]=1668509029}function ue(){if(!X){var s=Au();s==0&&(s+=4);var o=nt[s>>2],u=nt[s+4>>2];(o!=34821223||u!=2310721022)&&Se(`Stack overflow! Stack cookie has been overwritten at ${Kt(s)}, expected hex dwords 0x89BACDFE and 0x2135467, but received ${Kt(u)} ${Kt(o)}`),nt[0]!=1668509029&&Se("Runtime error: The application has corrupted its heap memory area (address zero)!")}}class $ extends Error{}class ye extends ${}class qe extends ${constructor(o){super(o),this.excPtr=o;let u=Qd(o);this.name=u[0],this.message=u[1]}}var at=!0;function fe(...s){!at&&typeof at<"u"||console.warn(...s)}(()=>{var s=new Int16Array(1),o=new Int8Array(s.buffer);if(s[0]=25459,o[0]!==115||o[1]!==99)throw"Runtime error: expected the system to be little-endian! (Run with -sSUPPORT_BIG_ENDIAN to bypass)"})();function He(s){Object.getOwnPropertyDescriptor(t,s)||Object.defineProperty(t,s,{configurable:!0,set(){Se(`Attempt to set \`Module.${s}\` after it has already been processed.  This can happen, for example, when code is injected via '--post-js' rather than '--pre-js'`)}})}function Ie(s){return()=>H(!1,`call to '${s}' via reference taken before Wasm module initialization`)}function Qe(s){Object.getOwnPropertyDescriptor(t,s)&&Se(`\`Module.${s}\` was supplied but \`${s}\` not included in INCOMING_MODULE_JS_API`)}function Ue(s){return s==="FS_createPath"||s==="FS_createDataFile"||s==="FS_createPreloadedFile"||s==="FS_unlink"||s==="addRunDependency"||s==="FS_createLazyFile"||s==="FS_createDevice"||s==="removeRunDependency"}function Ke(s,o){typeof globalThis<"u"&&!Object.getOwnPropertyDescriptor(globalThis,s)&&Object.defineProperty(globalThis,s,{configurable:!0,get(){o()}})}function ct(s,o){Ke(s,()=>{Zn(`\`${s}\` is not longer defined by emscripten. ${o}`)})}ct("buffer","Please use HEAP8.buffer or wasmMemory.buffer"),ct("asm","Please use wasmExports instead");function Oe(s){Ke(s,()=>{var o=`\`${s}\` is a library symbol and not included by default; add it to your library.js __deps or to DEFAULT_LIBRARY_FUNCS_TO_INCLUDE on the command line`,u=s;u.startsWith("_")||(u="$"+s),o+=` (e.g. -sDEFAULT_LIBRARY_FUNCS_TO_INCLUDE='${u}')`,Ue(s)&&(o+=". Alternatively, forcing filesystem support (-sFORCE_FILESYSTEM) can export this for you"),Zn(o)}),Dt(s)}function Dt(s){Object.getOwnPropertyDescriptor(t,s)||Object.defineProperty(t,s,{configurable:!0,get(){var o=`'${s}' was not exported. add it to EXPORTED_RUNTIME_METHODS (see the Emscripten FAQ)`;Ue(s)&&(o+=". Alternatively, forcing filesystem support (-sFORCE_FILESYSTEM) can export this for you"),Se(o)}})}var Bt,bt,Ht,mt,Wt,Et,gn,ze,nt,yn,rn,Y,ot,$t=!1;function Xt(){var s=Ht.buffer;mt=new Int8Array(s),Et=new Int16Array(s),Wt=new Uint8Array(s),gn=new Uint16Array(s),ze=new Int32Array(s),nt=new Uint32Array(s),yn=new Float32Array(s),rn=new Float64Array(s),Y=new BigInt64Array(s),ot=new BigUint64Array(s)}H(typeof Int32Array<"u"&&typeof Float64Array<"u"&&Int32Array.prototype.subarray!=null&&Int32Array.prototype.set!=null,"JS engine does not provide full typed array support");function Ge(){if(t.preRun)for(typeof t.preRun=="function"&&(t.preRun=[t.preRun]);t.preRun.length;)_t(t.preRun.shift());He("preRun"),tt(rt)}function pn(){H(!$t),$t=!0,ue(),!t.noFSInit&&!M.initialized&&M.init(),ft.init(),Ur.__wasm_call_ctors(),M.ignorePermissions=!1}function it(){if(ue(),t.postRun)for(typeof t.postRun=="function"&&(t.postRun=[t.postRun]);t.postRun.length;)Re(t.postRun.shift());He("postRun"),tt(gt)}var lt=0,O=null,A={},ie=null;function we(s){lt++,t.monitorRunDependencies?.(lt),s?(H(!A[s]),A[s]=1,ie===null&&typeof setInterval<"u"&&(ie=setInterval(()=>{if(X){clearInterval(ie),ie=null;return}var o=!1;for(var u in A)o||(o=!0,F("still waiting on run dependencies:")),F(`dependency: ${u}`);o&&F("(end of list)")},1e4))):F("warning: run dependency added without ID")}function ve(s){if(lt--,t.monitorRunDependencies?.(lt),s?(H(A[s]),delete A[s]):F("warning: run dependency removed without ID"),lt==0&&(ie!==null&&(clearInterval(ie),ie=null),O)){var o=O;O=null,o()}}function Se(s){t.onAbort?.(s),s="Aborted("+s+")",F(s),X=!0;var o=new WebAssembly.RuntimeError(s);throw bt?.(o),o}function Ae(s,o){return(...u)=>{H($t,`native function \`${s}\` called before runtime initialization`);var f=Ur[s];return H(f,`exported native function \`${s}\` not found`),H(u.length<=o,`native function \`${s}\` called with ${u.length} args but expects ${o}`),f(...u)}}var de;function me(){return t.locateFile?v("mujoco.wasm"):new URL("mujoco.wasm",document.baseURI).href}function ke(s){if(s==de&&ne)return new Uint8Array(ne);if(C)return C(s);throw"both async and sync fetching of the wasm failed"}async function W(s){if(!ne)try{var o=await w(s);return new Uint8Array(o)}catch{}return ke(s)}async function ge(s,o){try{var u=await W(s),f=await WebAssembly.instantiate(u,o);return f}catch(_){F(`failed to asynchronously prepare wasm: ${_}`),le(de)&&F(`warning: Loading from a file URI (${de}) is not supported in most browsers. See https://emscripten.org/docs/getting_started/FAQ.html#how-do-i-run-a-local-webserver-for-testing-why-does-my-program-stall-in-downloading-or-preparing`),Se(_)}}async function he(s,o,u){if(!s&&typeof WebAssembly.instantiateStreaming=="function"&&!le(o)&&!a)try{var f=fetch(o,{credentials:"same-origin"}),_=await WebAssembly.instantiateStreaming(f,u);return _}catch(S){F(`wasm streaming compile failed: ${S}`),F("falling back to ArrayBuffer instantiation")}return ge(o,u)}function Be(){return{env:df,wasi_snapshot_preview1:df}}async function De(){function s(T,P){return Ur=T.exports,Ht=Ur.memory,H(Ht,"memory not found in wasm exports"),Xt(),ms=Ur.__indirect_function_table,H(ms,"table not found in wasm exports"),p_(Ur),ve("wasm-instantiate"),Ur}we("wasm-instantiate");var o=t;function u(T){return H(t===o,"the Module object should not be replaced during async compilation - perhaps the order of HTML elements is wrong?"),o=null,s(T.instance)}var f=Be();if(t.instantiateWasm)return new Promise((T,P)=>{try{t.instantiateWasm(f,(B,Q)=>{T(s(B,Q))})}catch(B){F(`Module.instantiateWasm callback failed with error: ${B}`),P(B)}});de??=me();var _=await he(ne,de,f),S=u(_);return S}class Fe{name="ExitStatus";constructor(o){this.message=`Program terminated with exit(${o})`,this.status=o}}var tt=s=>{for(;s.length>0;)s.shift()(t)},gt=[],Re=s=>gt.push(s),rt=[],_t=s=>rt.push(s);function We(s,o="i8"){switch(o.endsWith("*")&&(o="*"),o){case"i1":return mt[s];case"i8":return mt[s];case"i16":return Et[s>>1];case"i32":return ze[s>>2];case"i64":return Y[s>>3];case"float":return yn[s>>2];case"double":return rn[s>>3];case"*":return nt[s>>2];default:Se(`invalid type for getValue: ${o}`)}}var kt=!0,Kt=s=>(H(typeof s=="number"),s>>>=0,"0x"+s.toString(16).padStart(8,"0"));function li(s,o,u="i8"){switch(u.endsWith("*")&&(u="*"),u){case"i1":mt[s]=o;break;case"i8":mt[s]=o;break;case"i16":Et[s>>1]=o;break;case"i32":ze[s>>2]=o;break;case"i64":Y[s>>3]=BigInt(o);break;case"float":yn[s>>2]=o;break;case"double":rn[s>>3]=o;break;case"*":nt[s>>2]=o;break;default:Se(`invalid type for setValue: ${u}`)}}var Ee=s=>af(s),Me=()=>lf(),Zn=s=>{Zn.shown||={},Zn.shown[s]||(Zn.shown[s]=1,a&&(s="warning: "+s),F(s))},or=typeof TextDecoder<"u"?new TextDecoder:void 0,_i=(s,o=0,u=NaN)=>{for(var f=o+u,_=o;s[_]&&!(_>=f);)++_;if(_-o>16&&s.buffer&&or)return or.decode(s.subarray(o,_));for(var S="";o<_;){var T=s[o++];if(!(T&128)){S+=String.fromCharCode(T);continue}var P=s[o++]&63;if((T&224)==192){S+=String.fromCharCode((T&31)<<6|P);continue}var B=s[o++]&63;if((T&240)==224?T=(T&15)<<12|P<<6|B:((T&248)!=240&&Zn("Invalid UTF-8 leading byte "+Kt(T)+" encountered when deserializing a UTF-8 string in wasm memory to a JS string!"),T=(T&7)<<18|P<<12|B<<6|s[o++]&63),T<65536)S+=String.fromCharCode(T);else{var Q=T-65536;S+=String.fromCharCode(55296|Q>>10,56320|Q&1023)}}return S},bn=(s,o)=>(H(typeof s=="number",`UTF8ToString expects a number (got ${typeof s})`),s?_i(Wt,s,o):""),Gi=(s,o,u,f)=>Se(`Assertion failed: ${bn(s)}, at: `+[o?bn(o):"unknown filename",u,f?bn(f):"unknown function"]),qn=[],vi=0,yi=s=>{var o=new lr(s);return o.get_caught()||(o.set_caught(!0),vi--),o.set_rethrown(!1),qn.push(o),Do(s),hf(s)},ns=()=>{if(!qn.length)return 0;var s=qn[qn.length-1];return Do(s.excPtr),s.excPtr},Pn=0,Vi=()=>{Le(0,0),H(qn.length>0);var s=qn.pop();Ru(s.excPtr),Pn=0};class lr{constructor(o){this.excPtr=o,this.ptr=o-24}set_type(o){nt[this.ptr+4>>2]=o}get_type(){return nt[this.ptr+4>>2]}set_destructor(o){nt[this.ptr+8>>2]=o}get_destructor(){return nt[this.ptr+8>>2]}set_caught(o){o=o?1:0,mt[this.ptr+12]=o}get_caught(){return mt[this.ptr+12]!=0}set_rethrown(o){o=o?1:0,mt[this.ptr+13]=o}get_rethrown(){return mt[this.ptr+13]!=0}init(o,u){this.set_adjusted_ptr(0),this.set_type(o),this.set_destructor(u)}set_adjusted_ptr(o){nt[this.ptr+16>>2]=o}get_adjusted_ptr(){return nt[this.ptr+16>>2]}}var Hi=s=>rf(s),cr=s=>{var o=Pn?.excPtr;if(!o)return Hi(0),0;var u=new lr(o);u.set_adjusted_ptr(o);var f=u.get_type();if(!f)return Hi(0),o;for(var _ of s){if(_===0||_===f)break;var S=u.ptr+16;if(uf(_,f,S))return Hi(_),o}return Hi(f),o},ia=()=>cr([]),is=s=>cr([s]),rs=(s,o)=>cr([s,o]),ur=()=>{var s=qn.pop();s||Se("no exception to throw");var o=s.excPtr;throw s.get_rethrown()||(qn.push(s),s.set_rethrown(!0),s.set_caught(!1),vi++),Pn=new qe(o),Pn},I=s=>{if(s){var o=new lr(s);qn.push(o),o.set_rethrown(!0),ur()}},j=(s,o,u)=>{var f=new lr(s);throw f.init(o,u),Pn=new qe(s),vi++,Pn},ce=()=>vi,se=s=>{throw Pn||(Pn=new qe(s)),Pn},K={isAbs:s=>s.charAt(0)==="/",splitPath:s=>{var o=/^(\/?|)([\s\S]*?)((?:\.{1,2}|[^\/]+?|)(\.[^.\/]*|))(?:[\/]*)$/;return o.exec(s).slice(1)},normalizeArray:(s,o)=>{for(var u=0,f=s.length-1;f>=0;f--){var _=s[f];_==="."?s.splice(f,1):_===".."?(s.splice(f,1),u++):u&&(s.splice(f,1),u--)}if(o)for(;u;u--)s.unshift("..");return s},normalize:s=>{var o=K.isAbs(s),u=s.slice(-1)==="/";return s=K.normalizeArray(s.split("/").filter(f=>!!f),!o).join("/"),!s&&!o&&(s="."),s&&u&&(s+="/"),(o?"/":"")+s},dirname:s=>{var o=K.splitPath(s),u=o[0],f=o[1];return!u&&!f?".":(f&&(f=f.slice(0,-1)),u+f)},basename:s=>s&&s.match(/([^\/]+|\/)\/*$/)[1],join:(...s)=>K.normalize(s.join("/")),join2:(s,o)=>K.normalize(s+"/"+o)},Ve=()=>{if(a){var s=c("crypto");return o=>s.randomFillSync(o)}return o=>crypto.getRandomValues(o)},je=s=>{(je=Ve())(s)},Ce={resolve:(...s)=>{for(var o="",u=!1,f=s.length-1;f>=-1&&!u;f--){var _=f>=0?s[f]:M.cwd();if(typeof _!="string")throw new TypeError("Arguments to path.resolve must be strings");if(!_)return"";o=_+"/"+o,u=K.isAbs(_)}return o=K.normalizeArray(o.split("/").filter(S=>!!S),!u).join("/"),(u?"/":"")+o||"."},relative:(s,o)=>{s=Ce.resolve(s).slice(1),o=Ce.resolve(o).slice(1);function u(Q){for(var ae=0;ae<Q.length&&Q[ae]==="";ae++);for(var pe=Q.length-1;pe>=0&&Q[pe]==="";pe--);return ae>pe?[]:Q.slice(ae,pe-ae+1)}for(var f=u(s.split("/")),_=u(o.split("/")),S=Math.min(f.length,_.length),T=S,P=0;P<S;P++)if(f[P]!==_[P]){T=P;break}for(var B=[],P=T;P<f.length;P++)B.push("..");return B=B.concat(_.slice(T)),B.join("/")}},$e=[],Je=s=>{for(var o=0,u=0;u<s.length;++u){var f=s.charCodeAt(u);f<=127?o++:f<=2047?o+=2:f>=55296&&f<=57343?(o+=4,++u):o+=3}return o},dt=(s,o,u,f)=>{if(H(typeof s=="string",`stringToUTF8Array expects a string (got ${typeof s})`),!(f>0))return 0;for(var _=u,S=u+f-1,T=0;T<s.length;++T){var P=s.codePointAt(T);if(P<=127){if(u>=S)break;o[u++]=P}else if(P<=2047){if(u+1>=S)break;o[u++]=192|P>>6,o[u++]=128|P&63}else if(P<=65535){if(u+2>=S)break;o[u++]=224|P>>12,o[u++]=128|P>>6&63,o[u++]=128|P&63}else{if(u+3>=S)break;P>1114111&&Zn("Invalid Unicode code point "+Kt(P)+" encountered when serializing a JS string to a UTF-8 string in wasm memory! (Valid unicode code points should be in range 0-0x10FFFF)."),o[u++]=240|P>>18,o[u++]=128|P>>12&63,o[u++]=128|P>>6&63,o[u++]=128|P&63,T++}}return o[u]=0,u-_},Tt=(s,o,u)=>{var f=u>0?u:Je(s)+1,_=new Array(f),S=dt(s,_,0,_.length);return o&&(_.length=S),_},Ze=()=>{if(!$e.length){var s=null;if(a){var o=256,u=Buffer.alloc(o),f=0,_=process.stdin.fd;try{f=D.readSync(_,u,0,o)}catch(S){if(S.toString().includes("EOF"))f=0;else throw S}f>0&&(s=u.slice(0,f).toString("utf-8"))}else typeof window<"u"&&typeof window.prompt=="function"&&(s=window.prompt("Input: "),s!==null&&(s+=`
`));if(!s)return null;$e=Tt(s,!0)}return $e.shift()},ft={ttys:[],init(){},shutdown(){},register(s,o){ft.ttys[s]={input:[],output:[],ops:o},M.registerDevice(s,ft.stream_ops)},stream_ops:{open(s){var o=ft.ttys[s.node.rdev];if(!o)throw new M.ErrnoError(43);s.tty=o,s.seekable=!1},close(s){s.tty.ops.fsync(s.tty)},fsync(s){s.tty.ops.fsync(s.tty)},read(s,o,u,f,_){if(!s.tty||!s.tty.ops.get_char)throw new M.ErrnoError(60);for(var S=0,T=0;T<f;T++){var P;try{P=s.tty.ops.get_char(s.tty)}catch{throw new M.ErrnoError(29)}if(P===void 0&&S===0)throw new M.ErrnoError(6);if(P==null)break;S++,o[u+T]=P}return S&&(s.node.atime=Date.now()),S},write(s,o,u,f,_){if(!s.tty||!s.tty.ops.put_char)throw new M.ErrnoError(60);try{for(var S=0;S<f;S++)s.tty.ops.put_char(s.tty,o[u+S])}catch{throw new M.ErrnoError(29)}return f&&(s.node.mtime=s.node.ctime=Date.now()),S}},default_tty_ops:{get_char(s){return Ze()},put_char(s,o){o===null||o===10?(U(_i(s.output)),s.output=[]):o!=0&&s.output.push(o)},fsync(s){s.output?.length>0&&(U(_i(s.output)),s.output=[])},ioctl_tcgets(s){return{c_iflag:25856,c_oflag:5,c_cflag:191,c_lflag:35387,c_cc:[3,28,127,21,4,0,1,0,17,19,26,0,18,15,23,22,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}},ioctl_tcsets(s,o,u){return 0},ioctl_tiocgwinsz(s){return[24,80]}},default_tty1_ops:{put_char(s,o){o===null||o===10?(F(_i(s.output)),s.output=[]):o!=0&&s.output.push(o)},fsync(s){s.output?.length>0&&(F(_i(s.output)),s.output=[])}}},cn=s=>{Se("internal error: mmapAlloc called but `emscripten_builtin_memalign` native symbol not exported")},Ye={ops_table:null,mount(s){return Ye.createNode(null,"/",16895,0)},createNode(s,o,u,f){if(M.isBlkdev(u)||M.isFIFO(u))throw new M.ErrnoError(63);Ye.ops_table||={dir:{node:{getattr:Ye.node_ops.getattr,setattr:Ye.node_ops.setattr,lookup:Ye.node_ops.lookup,mknod:Ye.node_ops.mknod,rename:Ye.node_ops.rename,unlink:Ye.node_ops.unlink,rmdir:Ye.node_ops.rmdir,readdir:Ye.node_ops.readdir,symlink:Ye.node_ops.symlink},stream:{llseek:Ye.stream_ops.llseek}},file:{node:{getattr:Ye.node_ops.getattr,setattr:Ye.node_ops.setattr},stream:{llseek:Ye.stream_ops.llseek,read:Ye.stream_ops.read,write:Ye.stream_ops.write,mmap:Ye.stream_ops.mmap,msync:Ye.stream_ops.msync}},link:{node:{getattr:Ye.node_ops.getattr,setattr:Ye.node_ops.setattr,readlink:Ye.node_ops.readlink},stream:{}},chrdev:{node:{getattr:Ye.node_ops.getattr,setattr:Ye.node_ops.setattr},stream:M.chrdev_stream_ops}};var _=M.createNode(s,o,u,f);return M.isDir(_.mode)?(_.node_ops=Ye.ops_table.dir.node,_.stream_ops=Ye.ops_table.dir.stream,_.contents={}):M.isFile(_.mode)?(_.node_ops=Ye.ops_table.file.node,_.stream_ops=Ye.ops_table.file.stream,_.usedBytes=0,_.contents=null):M.isLink(_.mode)?(_.node_ops=Ye.ops_table.link.node,_.stream_ops=Ye.ops_table.link.stream):M.isChrdev(_.mode)&&(_.node_ops=Ye.ops_table.chrdev.node,_.stream_ops=Ye.ops_table.chrdev.stream),_.atime=_.mtime=_.ctime=Date.now(),s&&(s.contents[o]=_,s.atime=s.mtime=s.ctime=_.atime),_},getFileDataAsTypedArray(s){return s.contents?s.contents.subarray?s.contents.subarray(0,s.usedBytes):new Uint8Array(s.contents):new Uint8Array(0)},expandFileStorage(s,o){var u=s.contents?s.contents.length:0;if(!(u>=o)){var f=1024*1024;o=Math.max(o,u*(u<f?2:1.125)>>>0),u!=0&&(o=Math.max(o,256));var _=s.contents;s.contents=new Uint8Array(o),s.usedBytes>0&&s.contents.set(_.subarray(0,s.usedBytes),0)}},resizeFileStorage(s,o){if(s.usedBytes!=o)if(o==0)s.contents=null,s.usedBytes=0;else{var u=s.contents;s.contents=new Uint8Array(o),u&&s.contents.set(u.subarray(0,Math.min(o,s.usedBytes))),s.usedBytes=o}},node_ops:{getattr(s){var o={};return o.dev=M.isChrdev(s.mode)?s.id:1,o.ino=s.id,o.mode=s.mode,o.nlink=1,o.uid=0,o.gid=0,o.rdev=s.rdev,M.isDir(s.mode)?o.size=4096:M.isFile(s.mode)?o.size=s.usedBytes:M.isLink(s.mode)?o.size=s.link.length:o.size=0,o.atime=new Date(s.atime),o.mtime=new Date(s.mtime),o.ctime=new Date(s.ctime),o.blksize=4096,o.blocks=Math.ceil(o.size/o.blksize),o},setattr(s,o){for(let u of["mode","atime","mtime","ctime"])o[u]!=null&&(s[u]=o[u]);o.size!==void 0&&Ye.resizeFileStorage(s,o.size)},lookup(s,o){throw new M.ErrnoError(44)},mknod(s,o,u,f){return Ye.createNode(s,o,u,f)},rename(s,o,u){var f;try{f=M.lookupNode(o,u)}catch{}if(f){if(M.isDir(s.mode))for(var _ in f.contents)throw new M.ErrnoError(55);M.hashRemoveNode(f)}delete s.parent.contents[s.name],o.contents[u]=s,s.name=u,o.ctime=o.mtime=s.parent.ctime=s.parent.mtime=Date.now()},unlink(s,o){delete s.contents[o],s.ctime=s.mtime=Date.now()},rmdir(s,o){var u=M.lookupNode(s,o);for(var f in u.contents)throw new M.ErrnoError(55);delete s.contents[o],s.ctime=s.mtime=Date.now()},readdir(s){return[".","..",...Object.keys(s.contents)]},symlink(s,o,u){var f=Ye.createNode(s,o,41471,0);return f.link=u,f},readlink(s){if(!M.isLink(s.mode))throw new M.ErrnoError(28);return s.link}},stream_ops:{read(s,o,u,f,_){var S=s.node.contents;if(_>=s.node.usedBytes)return 0;var T=Math.min(s.node.usedBytes-_,f);if(H(T>=0),T>8&&S.subarray)o.set(S.subarray(_,_+T),u);else for(var P=0;P<T;P++)o[u+P]=S[_+P];return T},write(s,o,u,f,_,S){if(H(!(o instanceof ArrayBuffer)),o.buffer===mt.buffer&&(S=!1),!f)return 0;var T=s.node;if(T.mtime=T.ctime=Date.now(),o.subarray&&(!T.contents||T.contents.subarray)){if(S)return H(_===0,"canOwn must imply no weird position inside the file"),T.contents=o.subarray(u,u+f),T.usedBytes=f,f;if(T.usedBytes===0&&_===0)return T.contents=o.slice(u,u+f),T.usedBytes=f,f;if(_+f<=T.usedBytes)return T.contents.set(o.subarray(u,u+f),_),f}if(Ye.expandFileStorage(T,_+f),T.contents.subarray&&o.subarray)T.contents.set(o.subarray(u,u+f),_);else for(var P=0;P<f;P++)T.contents[_+P]=o[u+P];return T.usedBytes=Math.max(T.usedBytes,_+f),f},llseek(s,o,u){var f=o;if(u===1?f+=s.position:u===2&&M.isFile(s.node.mode)&&(f+=s.node.usedBytes),f<0)throw new M.ErrnoError(28);return f},mmap(s,o,u,f,_){if(!M.isFile(s.node.mode))throw new M.ErrnoError(43);var S,T,P=s.node.contents;if(!(_&2)&&P&&P.buffer===mt.buffer)T=!1,S=P.byteOffset;else{if(T=!0,S=cn(o),!S)throw new M.ErrnoError(48);P&&((u>0||u+o<P.length)&&(P.subarray?P=P.subarray(u,u+o):P=Array.prototype.slice.call(P,u,u+o)),mt.set(P,S))}return{ptr:S,allocated:T}},msync(s,o,u,f,_){return Ye.stream_ops.write(s,o,0,f,u,!1),0}}},qt=async s=>{var o=await w(s);return H(o,`Loading data file "${s}" failed (no arrayBuffer).`),new Uint8Array(o)},_n=(...s)=>M.createDataFile(...s),et=s=>{for(var o=s;;){if(!A[s])return s;s=o+Math.random()}},on=[],Ft=(s,o,u,f)=>{typeof Browser<"u"&&Browser.init();var _=!1;return on.forEach(S=>{_||S.canHandle(o)&&(S.handle(s,o,u,f),_=!0)}),_},Bn=(s,o,u,f,_,S,T,P,B,Q)=>{var ae=o?Ce.resolve(K.join2(s,o)):s,pe=et(`cp ${ae}`);function xe(_e){function Te(ut){Q?.(),P||_n(s,o,ut,f,_,B),S?.(),ve(pe)}Ft(_e,ae,Te,()=>{T?.(),ve(pe)})||Te(_e)}we(pe),typeof u=="string"?qt(u).then(xe,T):xe(u)},vn=s=>{var o={r:0,"r+":2,w:577,"w+":578,a:1089,"a+":1090},u=o[s];if(typeof u>"u")throw new Error(`Unknown file open mode: ${s}`);return u},Ci=(s,o)=>{var u=0;return s&&(u|=365),o&&(u|=146),u},kn=s=>bn(nf(s)),ci={EPERM:63,ENOENT:44,ESRCH:71,EINTR:27,EIO:29,ENXIO:60,E2BIG:1,ENOEXEC:45,EBADF:8,ECHILD:12,EAGAIN:6,EWOULDBLOCK:6,ENOMEM:48,EACCES:2,EFAULT:21,ENOTBLK:105,EBUSY:10,EEXIST:20,EXDEV:75,ENODEV:43,ENOTDIR:54,EISDIR:31,EINVAL:28,ENFILE:41,EMFILE:33,ENOTTY:59,ETXTBSY:74,EFBIG:22,ENOSPC:51,ESPIPE:70,EROFS:69,EMLINK:34,EPIPE:64,EDOM:18,ERANGE:68,ENOMSG:49,EIDRM:24,ECHRNG:106,EL2NSYNC:156,EL3HLT:107,EL3RST:108,ELNRNG:109,EUNATCH:110,ENOCSI:111,EL2HLT:112,EDEADLK:16,ENOLCK:46,EBADE:113,EBADR:114,EXFULL:115,ENOANO:104,EBADRQC:103,EBADSLT:102,EDEADLOCK:16,EBFONT:101,ENOSTR:100,ENODATA:116,ETIME:117,ENOSR:118,ENONET:119,ENOPKG:120,EREMOTE:121,ENOLINK:47,EADV:122,ESRMNT:123,ECOMM:124,EPROTO:65,EMULTIHOP:36,EDOTDOT:125,EBADMSG:9,ENOTUNIQ:126,EBADFD:127,EREMCHG:128,ELIBACC:129,ELIBBAD:130,ELIBSCN:131,ELIBMAX:132,ELIBEXEC:133,ENOSYS:52,ENOTEMPTY:55,ENAMETOOLONG:37,ELOOP:32,EOPNOTSUPP:138,EPFNOSUPPORT:139,ECONNRESET:15,ENOBUFS:42,EAFNOSUPPORT:5,EPROTOTYPE:67,ENOTSOCK:57,ENOPROTOOPT:50,ESHUTDOWN:140,ECONNREFUSED:14,EADDRINUSE:3,ECONNABORTED:13,ENETUNREACH:40,ENETDOWN:38,ETIMEDOUT:73,EHOSTDOWN:142,EHOSTUNREACH:23,EINPROGRESS:26,EALREADY:7,EDESTADDRREQ:17,EMSGSIZE:35,EPROTONOSUPPORT:66,ESOCKTNOSUPPORT:137,EADDRNOTAVAIL:4,ENETRESET:39,EISCONN:30,ENOTCONN:53,ETOOMANYREFS:141,EUSERS:136,EDQUOT:19,ESTALE:72,ENOTSUP:138,ENOMEDIUM:148,EILSEQ:25,EOVERFLOW:61,ECANCELED:11,ENOTRECOVERABLE:56,EOWNERDEAD:62,ESTRPIPE:135},M={root:null,mounts:[],devices:{},streams:[],nextInode:1,nameTable:null,currentPath:"/",initialized:!1,ignorePermissions:!0,filesystems:null,syncFSRequests:0,readFiles:{},ErrnoError:class extends Error{name="ErrnoError";constructor(s){super($t?kn(s):""),this.errno=s;for(var o in ci)if(ci[o]===s){this.code=o;break}}},FSStream:class{shared={};get object(){return this.node}set object(s){this.node=s}get isRead(){return(this.flags&2097155)!==1}get isWrite(){return(this.flags&2097155)!==0}get isAppend(){return this.flags&1024}get flags(){return this.shared.flags}set flags(s){this.shared.flags=s}get position(){return this.shared.position}set position(s){this.shared.position=s}},FSNode:class{node_ops={};stream_ops={};readMode=365;writeMode=146;mounted=null;constructor(s,o,u,f){s||(s=this),this.parent=s,this.mount=s.mount,this.id=M.nextInode++,this.name=o,this.mode=u,this.rdev=f,this.atime=this.mtime=this.ctime=Date.now()}get read(){return(this.mode&this.readMode)===this.readMode}set read(s){s?this.mode|=this.readMode:this.mode&=~this.readMode}get write(){return(this.mode&this.writeMode)===this.writeMode}set write(s){s?this.mode|=this.writeMode:this.mode&=~this.writeMode}get isFolder(){return M.isDir(this.mode)}get isDevice(){return M.isChrdev(this.mode)}},lookupPath(s,o={}){if(!s)throw new M.ErrnoError(44);o.follow_mount??=!0,K.isAbs(s)||(s=M.cwd()+"/"+s);e:for(var u=0;u<40;u++){for(var f=s.split("/").filter(Q=>!!Q),_=M.root,S="/",T=0;T<f.length;T++){var P=T===f.length-1;if(P&&o.parent)break;if(f[T]!=="."){if(f[T]===".."){if(S=K.dirname(S),M.isRoot(_)){s=S+"/"+f.slice(T+1).join("/");continue e}else _=_.parent;continue}S=K.join2(S,f[T]);try{_=M.lookupNode(_,f[T])}catch(Q){if(Q?.errno===44&&P&&o.noent_okay)return{path:S};throw Q}if(M.isMountpoint(_)&&(!P||o.follow_mount)&&(_=_.mounted.root),M.isLink(_.mode)&&(!P||o.follow)){if(!_.node_ops.readlink)throw new M.ErrnoError(52);var B=_.node_ops.readlink(_);K.isAbs(B)||(B=K.dirname(S)+"/"+B),s=B+"/"+f.slice(T+1).join("/");continue e}}}return{path:S,node:_}}throw new M.ErrnoError(32)},getPath(s){for(var o;;){if(M.isRoot(s)){var u=s.mount.mountpoint;return o?u[u.length-1]!=="/"?`${u}/${o}`:u+o:u}o=o?`${s.name}/${o}`:s.name,s=s.parent}},hashName(s,o){for(var u=0,f=0;f<o.length;f++)u=(u<<5)-u+o.charCodeAt(f)|0;return(s+u>>>0)%M.nameTable.length},hashAddNode(s){var o=M.hashName(s.parent.id,s.name);s.name_next=M.nameTable[o],M.nameTable[o]=s},hashRemoveNode(s){var o=M.hashName(s.parent.id,s.name);if(M.nameTable[o]===s)M.nameTable[o]=s.name_next;else for(var u=M.nameTable[o];u;){if(u.name_next===s){u.name_next=s.name_next;break}u=u.name_next}},lookupNode(s,o){var u=M.mayLookup(s);if(u)throw new M.ErrnoError(u);for(var f=M.hashName(s.id,o),_=M.nameTable[f];_;_=_.name_next){var S=_.name;if(_.parent.id===s.id&&S===o)return _}return M.lookup(s,o)},createNode(s,o,u,f){H(typeof s=="object");var _=new M.FSNode(s,o,u,f);return M.hashAddNode(_),_},destroyNode(s){M.hashRemoveNode(s)},isRoot(s){return s===s.parent},isMountpoint(s){return!!s.mounted},isFile(s){return(s&61440)===32768},isDir(s){return(s&61440)===16384},isLink(s){return(s&61440)===40960},isChrdev(s){return(s&61440)===8192},isBlkdev(s){return(s&61440)===24576},isFIFO(s){return(s&61440)===4096},isSocket(s){return(s&49152)===49152},flagsToPermissionString(s){var o=["r","w","rw"][s&3];return s&512&&(o+="w"),o},nodePermissions(s,o){return M.ignorePermissions?0:o.includes("r")&&!(s.mode&292)||o.includes("w")&&!(s.mode&146)||o.includes("x")&&!(s.mode&73)?2:0},mayLookup(s){if(!M.isDir(s.mode))return 54;var o=M.nodePermissions(s,"x");return o||(s.node_ops.lookup?0:2)},mayCreate(s,o){if(!M.isDir(s.mode))return 54;try{var u=M.lookupNode(s,o);return 20}catch{}return M.nodePermissions(s,"wx")},mayDelete(s,o,u){var f;try{f=M.lookupNode(s,o)}catch(S){return S.errno}var _=M.nodePermissions(s,"wx");if(_)return _;if(u){if(!M.isDir(f.mode))return 54;if(M.isRoot(f)||M.getPath(f)===M.cwd())return 10}else if(M.isDir(f.mode))return 31;return 0},mayOpen(s,o){return s?M.isLink(s.mode)?32:M.isDir(s.mode)&&(M.flagsToPermissionString(o)!=="r"||o&576)?31:M.nodePermissions(s,M.flagsToPermissionString(o)):44},checkOpExists(s,o){if(!s)throw new M.ErrnoError(o);return s},MAX_OPEN_FDS:4096,nextfd(){for(var s=0;s<=M.MAX_OPEN_FDS;s++)if(!M.streams[s])return s;throw new M.ErrnoError(33)},getStreamChecked(s){var o=M.getStream(s);if(!o)throw new M.ErrnoError(8);return o},getStream:s=>M.streams[s],createStream(s,o=-1){return H(o>=-1),s=Object.assign(new M.FSStream,s),o==-1&&(o=M.nextfd()),s.fd=o,M.streams[o]=s,s},closeStream(s){M.streams[s]=null},dupStream(s,o=-1){var u=M.createStream(s,o);return u.stream_ops?.dup?.(u),u},doSetAttr(s,o,u){var f=s?.stream_ops.setattr,_=f?s:o;f??=o.node_ops.setattr,M.checkOpExists(f,63),f(_,u)},chrdev_stream_ops:{open(s){var o=M.getDevice(s.node.rdev);s.stream_ops=o.stream_ops,s.stream_ops.open?.(s)},llseek(){throw new M.ErrnoError(70)}},major:s=>s>>8,minor:s=>s&255,makedev:(s,o)=>s<<8|o,registerDevice(s,o){M.devices[s]={stream_ops:o}},getDevice:s=>M.devices[s],getMounts(s){for(var o=[],u=[s];u.length;){var f=u.pop();o.push(f),u.push(...f.mounts)}return o},syncfs(s,o){typeof s=="function"&&(o=s,s=!1),M.syncFSRequests++,M.syncFSRequests>1&&F(`warning: ${M.syncFSRequests} FS.syncfs operations in flight at once, probably just doing extra work`);var u=M.getMounts(M.root.mount),f=0;function _(T){return H(M.syncFSRequests>0),M.syncFSRequests--,o(T)}function S(T){if(T)return S.errored?void 0:(S.errored=!0,_(T));++f>=u.length&&_(null)}u.forEach(T=>{if(!T.type.syncfs)return S(null);T.type.syncfs(T,s,S)})},mount(s,o,u){if(typeof s=="string")throw s;var f=u==="/",_=!u,S;if(f&&M.root)throw new M.ErrnoError(10);if(!f&&!_){var T=M.lookupPath(u,{follow_mount:!1});if(u=T.path,S=T.node,M.isMountpoint(S))throw new M.ErrnoError(10);if(!M.isDir(S.mode))throw new M.ErrnoError(54)}var P={type:s,opts:o,mountpoint:u,mounts:[]},B=s.mount(P);return B.mount=P,P.root=B,f?M.root=B:S&&(S.mounted=P,S.mount&&S.mount.mounts.push(P)),B},unmount(s){var o=M.lookupPath(s,{follow_mount:!1});if(!M.isMountpoint(o.node))throw new M.ErrnoError(28);var u=o.node,f=u.mounted,_=M.getMounts(f);Object.keys(M.nameTable).forEach(T=>{for(var P=M.nameTable[T];P;){var B=P.name_next;_.includes(P.mount)&&M.destroyNode(P),P=B}}),u.mounted=null;var S=u.mount.mounts.indexOf(f);H(S!==-1),u.mount.mounts.splice(S,1)},lookup(s,o){return s.node_ops.lookup(s,o)},mknod(s,o,u){var f=M.lookupPath(s,{parent:!0}),_=f.node,S=K.basename(s);if(!S)throw new M.ErrnoError(28);if(S==="."||S==="..")throw new M.ErrnoError(20);var T=M.mayCreate(_,S);if(T)throw new M.ErrnoError(T);if(!_.node_ops.mknod)throw new M.ErrnoError(63);return _.node_ops.mknod(_,S,o,u)},statfs(s){return M.statfsNode(M.lookupPath(s,{follow:!0}).node)},statfsStream(s){return M.statfsNode(s.node)},statfsNode(s){var o={bsize:4096,frsize:4096,blocks:1e6,bfree:5e5,bavail:5e5,files:M.nextInode,ffree:M.nextInode-1,fsid:42,flags:2,namelen:255};return s.node_ops.statfs&&Object.assign(o,s.node_ops.statfs(s.mount.opts.root)),o},create(s,o=438){return o&=4095,o|=32768,M.mknod(s,o,0)},mkdir(s,o=511){return o&=1023,o|=16384,M.mknod(s,o,0)},mkdirTree(s,o){var u=s.split("/"),f="";for(var _ of u)if(_){(f||K.isAbs(s))&&(f+="/"),f+=_;try{M.mkdir(f,o)}catch(S){if(S.errno!=20)throw S}}},mkdev(s,o,u){return typeof u>"u"&&(u=o,o=438),o|=8192,M.mknod(s,o,u)},symlink(s,o){if(!Ce.resolve(s))throw new M.ErrnoError(44);var u=M.lookupPath(o,{parent:!0}),f=u.node;if(!f)throw new M.ErrnoError(44);var _=K.basename(o),S=M.mayCreate(f,_);if(S)throw new M.ErrnoError(S);if(!f.node_ops.symlink)throw new M.ErrnoError(63);return f.node_ops.symlink(f,_,s)},rename(s,o){var u=K.dirname(s),f=K.dirname(o),_=K.basename(s),S=K.basename(o),T,P,B;if(T=M.lookupPath(s,{parent:!0}),P=T.node,T=M.lookupPath(o,{parent:!0}),B=T.node,!P||!B)throw new M.ErrnoError(44);if(P.mount!==B.mount)throw new M.ErrnoError(75);var Q=M.lookupNode(P,_),ae=Ce.relative(s,f);if(ae.charAt(0)!==".")throw new M.ErrnoError(28);if(ae=Ce.relative(o,u),ae.charAt(0)!==".")throw new M.ErrnoError(55);var pe;try{pe=M.lookupNode(B,S)}catch{}if(Q!==pe){var xe=M.isDir(Q.mode),_e=M.mayDelete(P,_,xe);if(_e)throw new M.ErrnoError(_e);if(_e=pe?M.mayDelete(B,S,xe):M.mayCreate(B,S),_e)throw new M.ErrnoError(_e);if(!P.node_ops.rename)throw new M.ErrnoError(63);if(M.isMountpoint(Q)||pe&&M.isMountpoint(pe))throw new M.ErrnoError(10);if(B!==P&&(_e=M.nodePermissions(P,"w"),_e))throw new M.ErrnoError(_e);M.hashRemoveNode(Q);try{P.node_ops.rename(Q,B,S),Q.parent=B}catch(Te){throw Te}finally{M.hashAddNode(Q)}}},rmdir(s){var o=M.lookupPath(s,{parent:!0}),u=o.node,f=K.basename(s),_=M.lookupNode(u,f),S=M.mayDelete(u,f,!0);if(S)throw new M.ErrnoError(S);if(!u.node_ops.rmdir)throw new M.ErrnoError(63);if(M.isMountpoint(_))throw new M.ErrnoError(10);u.node_ops.rmdir(u,f),M.destroyNode(_)},readdir(s){var o=M.lookupPath(s,{follow:!0}),u=o.node,f=M.checkOpExists(u.node_ops.readdir,54);return f(u)},unlink(s){var o=M.lookupPath(s,{parent:!0}),u=o.node;if(!u)throw new M.ErrnoError(44);var f=K.basename(s),_=M.lookupNode(u,f),S=M.mayDelete(u,f,!1);if(S)throw new M.ErrnoError(S);if(!u.node_ops.unlink)throw new M.ErrnoError(63);if(M.isMountpoint(_))throw new M.ErrnoError(10);u.node_ops.unlink(u,f),M.destroyNode(_)},readlink(s){var o=M.lookupPath(s),u=o.node;if(!u)throw new M.ErrnoError(44);if(!u.node_ops.readlink)throw new M.ErrnoError(28);return u.node_ops.readlink(u)},stat(s,o){var u=M.lookupPath(s,{follow:!o}),f=u.node,_=M.checkOpExists(f.node_ops.getattr,63);return _(f)},fstat(s){var o=M.getStreamChecked(s),u=o.node,f=o.stream_ops.getattr,_=f?o:u;return f??=u.node_ops.getattr,M.checkOpExists(f,63),f(_)},lstat(s){return M.stat(s,!0)},doChmod(s,o,u,f){M.doSetAttr(s,o,{mode:u&4095|o.mode&-4096,ctime:Date.now(),dontFollow:f})},chmod(s,o,u){var f;if(typeof s=="string"){var _=M.lookupPath(s,{follow:!u});f=_.node}else f=s;M.doChmod(null,f,o,u)},lchmod(s,o){M.chmod(s,o,!0)},fchmod(s,o){var u=M.getStreamChecked(s);M.doChmod(u,u.node,o,!1)},doChown(s,o,u){M.doSetAttr(s,o,{timestamp:Date.now(),dontFollow:u})},chown(s,o,u,f){var _;if(typeof s=="string"){var S=M.lookupPath(s,{follow:!f});_=S.node}else _=s;M.doChown(null,_,f)},lchown(s,o,u){M.chown(s,o,u,!0)},fchown(s,o,u){var f=M.getStreamChecked(s);M.doChown(f,f.node,!1)},doTruncate(s,o,u){if(M.isDir(o.mode))throw new M.ErrnoError(31);if(!M.isFile(o.mode))throw new M.ErrnoError(28);var f=M.nodePermissions(o,"w");if(f)throw new M.ErrnoError(f);M.doSetAttr(s,o,{size:u,timestamp:Date.now()})},truncate(s,o){if(o<0)throw new M.ErrnoError(28);var u;if(typeof s=="string"){var f=M.lookupPath(s,{follow:!0});u=f.node}else u=s;M.doTruncate(null,u,o)},ftruncate(s,o){var u=M.getStreamChecked(s);if(o<0||(u.flags&2097155)===0)throw new M.ErrnoError(28);M.doTruncate(u,u.node,o)},utime(s,o,u){var f=M.lookupPath(s,{follow:!0}),_=f.node,S=M.checkOpExists(_.node_ops.setattr,63);S(_,{atime:o,mtime:u})},open(s,o,u=438){if(s==="")throw new M.ErrnoError(44);o=typeof o=="string"?vn(o):o,o&64?u=u&4095|32768:u=0;var f,_;if(typeof s=="object")f=s;else{_=s.endsWith("/");var S=M.lookupPath(s,{follow:!(o&131072),noent_okay:!0});f=S.node,s=S.path}var T=!1;if(o&64)if(f){if(o&128)throw new M.ErrnoError(20)}else{if(_)throw new M.ErrnoError(31);f=M.mknod(s,u|511,0),T=!0}if(!f)throw new M.ErrnoError(44);if(M.isChrdev(f.mode)&&(o&=-513),o&65536&&!M.isDir(f.mode))throw new M.ErrnoError(54);if(!T){var P=M.mayOpen(f,o);if(P)throw new M.ErrnoError(P)}o&512&&!T&&M.truncate(f,0),o&=-131713;var B=M.createStream({node:f,path:M.getPath(f),flags:o,seekable:!0,position:0,stream_ops:f.stream_ops,ungotten:[],error:!1});return B.stream_ops.open&&B.stream_ops.open(B),T&&M.chmod(f,u&511),t.logReadFiles&&!(o&1)&&(s in M.readFiles||(M.readFiles[s]=1)),B},close(s){if(M.isClosed(s))throw new M.ErrnoError(8);s.getdents&&(s.getdents=null);try{s.stream_ops.close&&s.stream_ops.close(s)}catch(o){throw o}finally{M.closeStream(s.fd)}s.fd=null},isClosed(s){return s.fd===null},llseek(s,o,u){if(M.isClosed(s))throw new M.ErrnoError(8);if(!s.seekable||!s.stream_ops.llseek)throw new M.ErrnoError(70);if(u!=0&&u!=1&&u!=2)throw new M.ErrnoError(28);return s.position=s.stream_ops.llseek(s,o,u),s.ungotten=[],s.position},read(s,o,u,f,_){if(H(u>=0),f<0||_<0)throw new M.ErrnoError(28);if(M.isClosed(s))throw new M.ErrnoError(8);if((s.flags&2097155)===1)throw new M.ErrnoError(8);if(M.isDir(s.node.mode))throw new M.ErrnoError(31);if(!s.stream_ops.read)throw new M.ErrnoError(28);var S=typeof _<"u";if(!S)_=s.position;else if(!s.seekable)throw new M.ErrnoError(70);var T=s.stream_ops.read(s,o,u,f,_);return S||(s.position+=T),T},write(s,o,u,f,_,S){if(H(u>=0),f<0||_<0)throw new M.ErrnoError(28);if(M.isClosed(s))throw new M.ErrnoError(8);if((s.flags&2097155)===0)throw new M.ErrnoError(8);if(M.isDir(s.node.mode))throw new M.ErrnoError(31);if(!s.stream_ops.write)throw new M.ErrnoError(28);s.seekable&&s.flags&1024&&M.llseek(s,0,2);var T=typeof _<"u";if(!T)_=s.position;else if(!s.seekable)throw new M.ErrnoError(70);var P=s.stream_ops.write(s,o,u,f,_,S);return T||(s.position+=P),P},mmap(s,o,u,f,_){if((f&2)!==0&&(_&2)===0&&(s.flags&2097155)!==2)throw new M.ErrnoError(2);if((s.flags&2097155)===1)throw new M.ErrnoError(2);if(!s.stream_ops.mmap)throw new M.ErrnoError(43);if(!o)throw new M.ErrnoError(28);return s.stream_ops.mmap(s,o,u,f,_)},msync(s,o,u,f,_){return H(u>=0),s.stream_ops.msync?s.stream_ops.msync(s,o,u,f,_):0},ioctl(s,o,u){if(!s.stream_ops.ioctl)throw new M.ErrnoError(59);return s.stream_ops.ioctl(s,o,u)},readFile(s,o={}){if(o.flags=o.flags||0,o.encoding=o.encoding||"binary",o.encoding!=="utf8"&&o.encoding!=="binary")throw new Error(`Invalid encoding type "${o.encoding}"`);var u=M.open(s,o.flags),f=M.stat(s),_=f.size,S=new Uint8Array(_);return M.read(u,S,0,_,0),o.encoding==="utf8"&&(S=_i(S)),M.close(u),S},writeFile(s,o,u={}){u.flags=u.flags||577;var f=M.open(s,u.flags,u.mode);if(typeof o=="string"&&(o=new Uint8Array(Tt(o,!0))),ArrayBuffer.isView(o))M.write(f,o,0,o.byteLength,void 0,u.canOwn);else throw new Error("Unsupported data type");M.close(f)},cwd:()=>M.currentPath,chdir(s){var o=M.lookupPath(s,{follow:!0});if(o.node===null)throw new M.ErrnoError(44);if(!M.isDir(o.node.mode))throw new M.ErrnoError(54);var u=M.nodePermissions(o.node,"x");if(u)throw new M.ErrnoError(u);M.currentPath=o.path},createDefaultDirectories(){M.mkdir("/tmp"),M.mkdir("/home"),M.mkdir("/home/web_user")},createDefaultDevices(){M.mkdir("/dev"),M.registerDevice(M.makedev(1,3),{read:()=>0,write:(f,_,S,T,P)=>T,llseek:()=>0}),M.mkdev("/dev/null",M.makedev(1,3)),ft.register(M.makedev(5,0),ft.default_tty_ops),ft.register(M.makedev(6,0),ft.default_tty1_ops),M.mkdev("/dev/tty",M.makedev(5,0)),M.mkdev("/dev/tty1",M.makedev(6,0));var s=new Uint8Array(1024),o=0,u=()=>(o===0&&(je(s),o=s.byteLength),s[--o]);M.createDevice("/dev","random",u),M.createDevice("/dev","urandom",u),M.mkdir("/dev/shm"),M.mkdir("/dev/shm/tmp")},createSpecialDirectories(){M.mkdir("/proc");var s=M.mkdir("/proc/self");M.mkdir("/proc/self/fd"),M.mount({mount(){var o=M.createNode(s,"fd",16895,73);return o.stream_ops={llseek:Ye.stream_ops.llseek},o.node_ops={lookup(u,f){var _=+f,S=M.getStreamChecked(_),T={parent:null,mount:{mountpoint:"fake"},node_ops:{readlink:()=>S.path},id:_+1};return T.parent=T,T},readdir(){return Array.from(M.streams.entries()).filter(([u,f])=>f).map(([u,f])=>u.toString())}},o}},{},"/proc/self/fd")},createStandardStreams(s,o,u){s?M.createDevice("/dev","stdin",s):M.symlink("/dev/tty","/dev/stdin"),o?M.createDevice("/dev","stdout",null,o):M.symlink("/dev/tty","/dev/stdout"),u?M.createDevice("/dev","stderr",null,u):M.symlink("/dev/tty1","/dev/stderr");var f=M.open("/dev/stdin",0),_=M.open("/dev/stdout",1),S=M.open("/dev/stderr",1);H(f.fd===0,`invalid handle for stdin (${f.fd})`),H(_.fd===1,`invalid handle for stdout (${_.fd})`),H(S.fd===2,`invalid handle for stderr (${S.fd})`)},staticInit(){M.nameTable=new Array(4096),M.mount(Ye,{},"/"),M.createDefaultDirectories(),M.createDefaultDevices(),M.createSpecialDirectories(),M.filesystems={MEMFS:Ye}},init(s,o,u){H(!M.initialized,"FS.init was previously called. If you want to initialize later with custom parameters, remove any earlier calls (note that one is automatically added to the generated code)"),M.initialized=!0,s??=t.stdin,o??=t.stdout,u??=t.stderr,M.createStandardStreams(s,o,u)},quit(){M.initialized=!1,Tu(0);for(var s of M.streams)s&&M.close(s)},findObject(s,o){var u=M.analyzePath(s,o);return u.exists?u.object:null},analyzePath(s,o){try{var u=M.lookupPath(s,{follow:!o});s=u.path}catch{}var f={isRoot:!1,exists:!1,error:0,name:null,path:null,object:null,parentExists:!1,parentPath:null,parentObject:null};try{var u=M.lookupPath(s,{parent:!0});f.parentExists=!0,f.parentPath=u.path,f.parentObject=u.node,f.name=K.basename(s),u=M.lookupPath(s,{follow:!o}),f.exists=!0,f.path=u.path,f.object=u.node,f.name=u.node.name,f.isRoot=u.path==="/"}catch(_){f.error=_.errno}return f},createPath(s,o,u,f){s=typeof s=="string"?s:M.getPath(s);for(var _=o.split("/").reverse();_.length;){var S=_.pop();if(S){var T=K.join2(s,S);try{M.mkdir(T)}catch(P){if(P.errno!=20)throw P}s=T}}return T},createFile(s,o,u,f,_){var S=K.join2(typeof s=="string"?s:M.getPath(s),o),T=Ci(f,_);return M.create(S,T)},createDataFile(s,o,u,f,_,S){var T=o;s&&(s=typeof s=="string"?s:M.getPath(s),T=o?K.join2(s,o):s);var P=Ci(f,_),B=M.create(T,P);if(u){if(typeof u=="string"){for(var Q=new Array(u.length),ae=0,pe=u.length;ae<pe;++ae)Q[ae]=u.charCodeAt(ae);u=Q}M.chmod(B,P|146);var xe=M.open(B,577);M.write(xe,u,0,u.length,0,S),M.close(xe),M.chmod(B,P)}},createDevice(s,o,u,f){var _=K.join2(typeof s=="string"?s:M.getPath(s),o),S=Ci(!!u,!!f);M.createDevice.major??=64;var T=M.makedev(M.createDevice.major++,0);return M.registerDevice(T,{open(P){P.seekable=!1},close(P){f?.buffer?.length&&f(10)},read(P,B,Q,ae,pe){for(var xe=0,_e=0;_e<ae;_e++){var Te;try{Te=u()}catch{throw new M.ErrnoError(29)}if(Te===void 0&&xe===0)throw new M.ErrnoError(6);if(Te==null)break;xe++,B[Q+_e]=Te}return xe&&(P.node.atime=Date.now()),xe},write(P,B,Q,ae,pe){for(var xe=0;xe<ae;xe++)try{f(B[Q+xe])}catch{throw new M.ErrnoError(29)}return ae&&(P.node.mtime=P.node.ctime=Date.now()),xe}}),M.mkdev(_,S,T)},forceLoadFile(s){if(s.isDevice||s.isFolder||s.link||s.contents)return!0;if(typeof XMLHttpRequest<"u")throw new Error("Lazy loading should have been performed (contents set) in createLazyFile, but it was not. Lazy loading only works in web workers. Use --embed-file or --preload-file in emcc on the main thread.");try{s.contents=C(s.url),s.usedBytes=s.contents.length}catch{throw new M.ErrnoError(29)}},createLazyFile(s,o,u,f,_){class S{lengthKnown=!1;chunks=[];get(_e){if(!(_e>this.length-1||_e<0)){var Te=_e%this.chunkSize,ut=_e/this.chunkSize|0;return this.getter(ut)[Te]}}setDataGetter(_e){this.getter=_e}cacheLength(){var _e=new XMLHttpRequest;if(_e.open("HEAD",u,!1),_e.send(null),!(_e.status>=200&&_e.status<300||_e.status===304))throw new Error("Couldn't load "+u+". Status: "+_e.status);var Te=Number(_e.getResponseHeader("Content-length")),ut,Nt=(ut=_e.getResponseHeader("Accept-Ranges"))&&ut==="bytes",Rt=(ut=_e.getResponseHeader("Content-Encoding"))&&ut==="gzip",ln=1024*1024;Nt||(ln=Te);var Gt=(Sn,Gn)=>{if(Sn>Gn)throw new Error("invalid range ("+Sn+", "+Gn+") or no bytes requested!");if(Gn>Te-1)throw new Error("only "+Te+" bytes available! programmer error!");var tn=new XMLHttpRequest;if(tn.open("GET",u,!1),Te!==ln&&tn.setRequestHeader("Range","bytes="+Sn+"-"+Gn),tn.responseType="arraybuffer",tn.overrideMimeType&&tn.overrideMimeType("text/plain; charset=x-user-defined"),tn.send(null),!(tn.status>=200&&tn.status<300||tn.status===304))throw new Error("Couldn't load "+u+". Status: "+tn.status);return tn.response!==void 0?new Uint8Array(tn.response||[]):Tt(tn.responseText||"",!0)},Ln=this;Ln.setDataGetter(Sn=>{var Gn=Sn*ln,tn=(Sn+1)*ln-1;if(tn=Math.min(tn,Te-1),typeof Ln.chunks[Sn]>"u"&&(Ln.chunks[Sn]=Gt(Gn,tn)),typeof Ln.chunks[Sn]>"u")throw new Error("doXHR failed!");return Ln.chunks[Sn]}),(Rt||!Te)&&(ln=Te=1,Te=this.getter(0).length,ln=Te,U("LazyFiles on gzip forces download of the whole file when length is accessed")),this._length=Te,this._chunkSize=ln,this.lengthKnown=!0}get length(){return this.lengthKnown||this.cacheLength(),this._length}get chunkSize(){return this.lengthKnown||this.cacheLength(),this._chunkSize}}if(typeof XMLHttpRequest<"u"){if(!r)throw"Cannot do synchronous binary XHRs outside webworkers in modern browsers. Use --embed-file or --preload-file in emcc";var T=new S,P={isDevice:!1,contents:T}}else var P={isDevice:!1,url:u};var B=M.createFile(s,o,P,f,_);P.contents?B.contents=P.contents:P.url&&(B.contents=null,B.url=P.url),Object.defineProperties(B,{usedBytes:{get:function(){return this.contents.length}}});var Q={},ae=Object.keys(B.stream_ops);ae.forEach(xe=>{var _e=B.stream_ops[xe];Q[xe]=(...Te)=>(M.forceLoadFile(B),_e(...Te))});function pe(xe,_e,Te,ut,Nt){var Rt=xe.node.contents;if(Nt>=Rt.length)return 0;var ln=Math.min(Rt.length-Nt,ut);if(H(ln>=0),Rt.slice)for(var Gt=0;Gt<ln;Gt++)_e[Te+Gt]=Rt[Nt+Gt];else for(var Gt=0;Gt<ln;Gt++)_e[Te+Gt]=Rt.get(Nt+Gt);return ln}return Q.read=(xe,_e,Te,ut,Nt)=>(M.forceLoadFile(B),pe(xe,_e,Te,ut,Nt)),Q.mmap=(xe,_e,Te,ut,Nt)=>{M.forceLoadFile(B);var Rt=cn(_e);if(!Rt)throw new M.ErrnoError(48);return pe(xe,mt,Rt,_e,Te),{ptr:Rt,allocated:!0}},B.stream_ops=Q,B},absolutePath(){Se("FS.absolutePath has been removed; use PATH_FS.resolve instead")},createFolder(){Se("FS.createFolder has been removed; use FS.mkdir instead")},createLink(){Se("FS.createLink has been removed; use FS.symlink instead")},joinPath(){Se("FS.joinPath has been removed; use PATH.join instead")},mmapAlloc(){Se("FS.mmapAlloc has been replaced by the top level function mmapAlloc")},standardizePath(){Se("FS.standardizePath has been removed; use PATH.normalize instead")}},vt={DEFAULT_POLLMASK:5,calculateAt(s,o,u){if(K.isAbs(o))return o;var f;if(s===-100)f=M.cwd();else{var _=vt.getStreamFromFD(s);f=_.path}if(o.length==0){if(!u)throw new M.ErrnoError(44);return f}return f+"/"+o},writeStat(s,o){ze[s>>2]=o.dev,ze[s+4>>2]=o.mode,nt[s+8>>2]=o.nlink,ze[s+12>>2]=o.uid,ze[s+16>>2]=o.gid,ze[s+20>>2]=o.rdev,Y[s+24>>3]=BigInt(o.size),ze[s+32>>2]=4096,ze[s+36>>2]=o.blocks;var u=o.atime.getTime(),f=o.mtime.getTime(),_=o.ctime.getTime();return Y[s+40>>3]=BigInt(Math.floor(u/1e3)),nt[s+48>>2]=u%1e3*1e3*1e3,Y[s+56>>3]=BigInt(Math.floor(f/1e3)),nt[s+64>>2]=f%1e3*1e3*1e3,Y[s+72>>3]=BigInt(Math.floor(_/1e3)),nt[s+80>>2]=_%1e3*1e3*1e3,Y[s+88>>3]=BigInt(o.ino),0},writeStatFs(s,o){ze[s+4>>2]=o.bsize,ze[s+40>>2]=o.bsize,ze[s+8>>2]=o.blocks,ze[s+12>>2]=o.bfree,ze[s+16>>2]=o.bavail,ze[s+20>>2]=o.files,ze[s+24>>2]=o.ffree,ze[s+28>>2]=o.fsid,ze[s+44>>2]=o.flags,ze[s+36>>2]=o.namelen},doMsync(s,o,u,f,_){if(!M.isFile(o.node.mode))throw new M.ErrnoError(43);if(f&2)return 0;var S=Wt.slice(s,s+u);M.msync(o,S,_,u,f)},getStreamFromFD(s){var o=M.getStreamChecked(s);return o},varargs:void 0,getStr(s){var o=bn(s);return o}};function Cn(s,o,u){try{var f=vt.getStreamFromFD(s);if(H(!u),f.fd===o)return-28;if(o<0||o>=M.MAX_OPEN_FDS)return-8;var _=M.getStream(o);return _&&M.close(_),M.dupStream(f,o).fd}catch(S){if(typeof M>"u"||S.name!=="ErrnoError")throw S;return-S.errno}}var jt=()=>{H(vt.varargs!=null);var s=ze[+vt.varargs>>2];return vt.varargs+=4,s},Qt=jt;function jn(s,o,u){vt.varargs=u;try{var f=vt.getStreamFromFD(s);switch(o){case 0:{var _=jt();if(_<0)return-28;for(;M.streams[_];)_++;var S;return S=M.dupStream(f,_),S.fd}case 1:case 2:return 0;case 3:return f.flags;case 4:{var _=jt();return f.flags|=_,0}case 12:{var _=Qt(),T=0;return Et[_+T>>1]=2,0}case 13:case 14:return 0}return-28}catch(P){if(typeof M>"u"||P.name!=="ErrnoError")throw P;return-P.errno}}function Lr(s,o){try{return vt.writeStat(o,M.fstat(s))}catch(u){if(typeof M>"u"||u.name!=="ErrnoError")throw u;return-u.errno}}function go(s,o,u){vt.varargs=u;try{var f=vt.getStreamFromFD(s);switch(o){case 21509:return f.tty?0:-59;case 21505:{if(!f.tty)return-59;if(f.tty.ops.ioctl_tcgets){var _=f.tty.ops.ioctl_tcgets(f),S=Qt();ze[S>>2]=_.c_iflag||0,ze[S+4>>2]=_.c_oflag||0,ze[S+8>>2]=_.c_cflag||0,ze[S+12>>2]=_.c_lflag||0;for(var T=0;T<32;T++)mt[S+T+17]=_.c_cc[T]||0;return 0}return 0}case 21510:case 21511:case 21512:return f.tty?0:-59;case 21506:case 21507:case 21508:{if(!f.tty)return-59;if(f.tty.ops.ioctl_tcsets){for(var S=Qt(),P=ze[S>>2],B=ze[S+4>>2],Q=ze[S+8>>2],ae=ze[S+12>>2],pe=[],T=0;T<32;T++)pe.push(mt[S+T+17]);return f.tty.ops.ioctl_tcsets(f.tty,o,{c_iflag:P,c_oflag:B,c_cflag:Q,c_lflag:ae,c_cc:pe})}return 0}case 21519:{if(!f.tty)return-59;var S=Qt();return ze[S>>2]=0,0}case 21520:return f.tty?-28:-59;case 21531:{var S=Qt();return M.ioctl(f,o,S)}case 21523:{if(!f.tty)return-59;if(f.tty.ops.ioctl_tiocgwinsz){var xe=f.tty.ops.ioctl_tiocgwinsz(f.tty),S=Qt();Et[S>>1]=xe[0],Et[S+2>>1]=xe[1]}return 0}case 21524:return f.tty?0:-59;case 21515:return f.tty?0:-59;default:return-28}}catch(_e){if(typeof M>"u"||_e.name!=="ErrnoError")throw _e;return-_e.errno}}function _o(s,o){try{return s=vt.getStr(s),vt.writeStat(o,M.lstat(s))}catch(u){if(typeof M>"u"||u.name!=="ErrnoError")throw u;return-u.errno}}function vo(s,o,u,f){try{o=vt.getStr(o);var _=f&256,S=f&4096;return f=f&-6401,H(!f,`unknown flags in __syscall_newfstatat: ${f}`),o=vt.calculateAt(s,o,S),vt.writeStat(u,_?M.lstat(o):M.stat(o))}catch(T){if(typeof M>"u"||T.name!=="ErrnoError")throw T;return-T.errno}}function tu(s,o,u,f){vt.varargs=f;try{o=vt.getStr(o),o=vt.calculateAt(s,o);var _=f?jt():0;return M.open(o,u,_).fd}catch(S){if(typeof M>"u"||S.name!=="ErrnoError")throw S;return-S.errno}}function yo(s,o){try{return s=vt.getStr(s),vt.writeStat(o,M.stat(s))}catch(u){if(typeof M>"u"||u.name!=="ErrnoError")throw u;return-u.errno}}var nu=()=>Se("native code called abort()"),dn=s=>{for(var o="";;){var u=Wt[s++];if(!u)return o;o+=String.fromCharCode(u)}},Wi={},Pi={},hr={},dr=class extends Error{constructor(o){super(o),this.name="BindingError"}},Pt=s=>{throw new dr(s)};function xo(s,o,u={}){var f=o.name;if(s||Pt(`type "${f}" must have a positive integer typeid pointer`),Pi.hasOwnProperty(s)){if(u.ignoreDuplicateRegistrations)return;Pt(`Cannot register type '${f}' twice`)}if(Pi[s]=o,delete hr[s],Wi.hasOwnProperty(s)){var _=Wi[s];delete Wi[s],_.forEach(S=>S())}}function In(s,o,u={}){if(o.argPackAdvance===void 0)throw new TypeError("registerType registeredInstance requires argPackAdvance");return xo(s,o,u)}var ra=(s,o,u)=>{switch(o){case 1:return u?f=>mt[f]:f=>Wt[f];case 2:return u?f=>Et[f>>1]:f=>gn[f>>1];case 4:return u?f=>ze[f>>2]:f=>nt[f>>2];case 8:return u?f=>Y[f>>3]:f=>ot[f>>3];default:throw new TypeError(`invalid integer width (${o}): ${s}`)}},Ii=s=>{if(s===null)return"null";var o=typeof s;return o==="object"||o==="array"||o==="function"?s.toString():""+s},Mt=(s,o,u,f)=>{if(o<u||o>f)throw new TypeError(`Passing a number "${Ii(o)}" from JS side to C/C++ side to an argument of type "${s}", which is outside the valid range [${u}, ${f}]!`)},Dr=(s,o,u,f,_)=>{o=dn(o);let S=f===0n,T=P=>P;if(S){let P=u*8;T=B=>BigInt.asUintN(P,B),_=T(_)}In(s,{name:o,fromWireType:T,toWireType:(P,B)=>{if(typeof B=="number")B=BigInt(B);else if(typeof B!="bigint")throw new TypeError(`Cannot convert "${Ii(B)}" to ${this.name}`);return Mt(o,B,f,_),B},argPackAdvance:Kn,readValueFromPointer:ra(o,u,!S),destructorFunction:null})},Kn=8,St=(s,o,u,f)=>{o=dn(o),In(s,{name:o,fromWireType:function(_){return!!_},toWireType:function(_,S){return S?u:f},argPackAdvance:Kn,readValueFromPointer:function(_){return this.fromWireType(Wt[_])},destructorFunction:null})},sa=s=>({count:s.count,deleteScheduled:s.deleteScheduled,preservePointerOnDelete:s.preservePointerOnDelete,ptr:s.ptr,ptrType:s.ptrType,smartPtr:s.smartPtr,smartPtrType:s.smartPtrType}),xt=s=>{function o(u){return u.$$.ptrType.registeredClass.name}Pt(o(s)+" instance already deleted")},ss=!1,as=s=>{},bo=s=>{s.smartPtr?s.smartPtrType.rawDestructor(s.smartPtr):s.ptrType.registeredClass.rawDestructor(s.ptr)},aa=s=>{s.count.value-=1;var o=s.count.value===0;o&&bo(s)},oa=(s,o,u)=>{if(o===u)return s;if(u.baseClass===void 0)return null;var f=oa(s,o,u.baseClass);return f===null?null:u.downcast(f)},xi={},iu={},So=(s,o)=>{for(o===void 0&&Pt("ptr should not be undefined");s.baseClass;)o=s.upcast(o),s=s.baseClass;return o},ru=(s,o)=>(o=So(s,o),iu[o]),su=class extends Error{constructor(o){super(o),this.name="InternalError"}},os=s=>{throw new su(s)},ls=(s,o)=>{(!o.ptrType||!o.ptr)&&os("makeClassHandle requires ptr and ptrType");var u=!!o.smartPtrType,f=!!o.smartPtr;return u!==f&&os("Both smartPtrType and smartPtr must be specified"),o.count={value:1},Fr(Object.create(s,{$$:{value:o,writable:!0}}))};function wo(s){var o=this.getPointee(s);if(!o)return this.destructor(s),null;var u=ru(this.registeredClass,o);if(u!==void 0){if(u.$$.count.value===0)return u.$$.ptr=o,u.$$.smartPtr=s,u.clone();var f=u.clone();return this.destructor(s),f}function _(){return this.isSmartPointer?ls(this.registeredClass.instancePrototype,{ptrType:this.pointeeType,ptr:o,smartPtrType:this,smartPtr:s}):ls(this.registeredClass.instancePrototype,{ptrType:this,ptr:s})}var S=this.registeredClass.getActualType(o),T=xi[S];if(!T)return _.call(this);var P;this.isConst?P=T.constPointerType:P=T.pointerType;var B=oa(o,this.registeredClass,P.registeredClass);return B===null?_.call(this):this.isSmartPointer?ls(P.registeredClass.instancePrototype,{ptrType:P,ptr:B,smartPtrType:this,smartPtr:s}):ls(P.registeredClass.instancePrototype,{ptrType:P,ptr:B})}var Fr=s=>typeof FinalizationRegistry>"u"?(Fr=o=>o,s):(ss=new FinalizationRegistry(o=>{console.warn(o.leakWarning),aa(o.$$)}),Fr=o=>{var u=o.$$,f=!!u.smartPtr;if(f){var _={$$:u},S=u.ptrType.registeredClass,T=new Error(`Embind found a leaked C++ instance ${S.name} <${Kt(u.ptr)}>.
We'll free it automatically in this case, but this functionality is not reliable across various environments.
Make sure to invoke .delete() manually once you're done with the instance instead.
Originally allocated`);"captureStackTrace"in Error&&Error.captureStackTrace(T,wo),_.leakWarning=T.stack.replace(/^Error: /,""),ss.register(o,_,o)}return o},as=o=>ss.unregister(o),Fr(s)),cs=[],au=()=>{for(;cs.length;){var s=cs.pop();s.$$.deleteScheduled=!1,s.delete()}},Mo,ou=()=>{let s=us.prototype;Object.assign(s,{isAliasOf(u){if(!(this instanceof us)||!(u instanceof us))return!1;var f=this.$$.ptrType.registeredClass,_=this.$$.ptr;u.$$=u.$$;for(var S=u.$$.ptrType.registeredClass,T=u.$$.ptr;f.baseClass;)_=f.upcast(_),f=f.baseClass;for(;S.baseClass;)T=S.upcast(T),S=S.baseClass;return f===S&&_===T},clone(){if(this.$$.ptr||xt(this),this.$$.preservePointerOnDelete)return this.$$.count.value+=1,this;var u=Fr(Object.create(Object.getPrototypeOf(this),{$$:{value:sa(this.$$)}}));return u.$$.count.value+=1,u.$$.deleteScheduled=!1,u},delete(){this.$$.ptr||xt(this),this.$$.deleteScheduled&&!this.$$.preservePointerOnDelete&&Pt("Object already scheduled for deletion"),as(this),aa(this.$$),this.$$.preservePointerOnDelete||(this.$$.smartPtr=void 0,this.$$.ptr=void 0)},isDeleted(){return!this.$$.ptr},deleteLater(){return this.$$.ptr||xt(this),this.$$.deleteScheduled&&!this.$$.preservePointerOnDelete&&Pt("Object already scheduled for deletion"),cs.push(this),cs.length===1&&Mo&&Mo(au),this.$$.deleteScheduled=!0,this}});let o=Symbol.dispose;o&&(s[o]=s.delete)};function us(){}var hs=(s,o)=>Object.defineProperty(o,"name",{value:s}),la=(s,o,u)=>{if(s[o].overloadTable===void 0){var f=s[o];s[o]=function(..._){return s[o].overloadTable.hasOwnProperty(_.length)||Pt(`Function '${u}' called with an invalid number of arguments (${_.length}) - expects one of (${s[o].overloadTable})!`),s[o].overloadTable[_.length].apply(this,_)},s[o].overloadTable=[],s[o].overloadTable[f.argCount]=f}},ca=(s,o,u)=>{t.hasOwnProperty(s)?((u===void 0||t[s].overloadTable!==void 0&&t[s].overloadTable[u]!==void 0)&&Pt(`Cannot register public name '${s}' twice`),la(t,s,s),t[s].overloadTable.hasOwnProperty(u)&&Pt(`Cannot register multiple overloads of a function with the same number of arguments (${u})!`),t[s].overloadTable[u]=o):(t[s]=o,t[s].argCount=u)},lu=48,cu=57,uu=s=>{H(typeof s=="string"),s=s.replace(/[^a-zA-Z0-9_]/g,"$");var o=s.charCodeAt(0);return o>=lu&&o<=cu?`_${s}`:s};function hu(s,o,u,f,_,S,T,P){this.name=s,this.constructor=o,this.instancePrototype=u,this.rawDestructor=f,this.baseClass=_,this.getActualType=S,this.upcast=T,this.downcast=P,this.pureVirtualFunctions=[]}var ds=(s,o,u)=>{for(;o!==u;)o.upcast||Pt(`Expected null or instance of ${u.name}, got an instance of ${o.name}`),s=o.upcast(s),o=o.baseClass;return s};function du(s,o){if(o===null)return this.isReference&&Pt(`null is not a valid ${this.name}`),0;o.$$||Pt(`Cannot pass "${Ii(o)}" as a ${this.name}`),o.$$.ptr||Pt(`Cannot pass deleted object as a pointer of type ${this.name}`);var u=o.$$.ptrType.registeredClass,f=ds(o.$$.ptr,u,this.registeredClass);return f}function fu(s,o){var u;if(o===null)return this.isReference&&Pt(`null is not a valid ${this.name}`),this.isSmartPointer?(u=this.rawConstructor(),s!==null&&s.push(this.rawDestructor,u),u):0;(!o||!o.$$)&&Pt(`Cannot pass "${Ii(o)}" as a ${this.name}`),o.$$.ptr||Pt(`Cannot pass deleted object as a pointer of type ${this.name}`),!this.isConst&&o.$$.ptrType.isConst&&Pt(`Cannot convert argument of type ${o.$$.smartPtrType?o.$$.smartPtrType.name:o.$$.ptrType.name} to parameter type ${this.name}`);var f=o.$$.ptrType.registeredClass;if(u=ds(o.$$.ptr,f,this.registeredClass),this.isSmartPointer)switch(o.$$.smartPtr===void 0&&Pt("Passing raw pointer to smart pointer is illegal"),this.sharingPolicy){case 0:o.$$.smartPtrType===this?u=o.$$.smartPtr:Pt(`Cannot convert argument of type ${o.$$.smartPtrType?o.$$.smartPtrType.name:o.$$.ptrType.name} to parameter type ${this.name}`);break;case 1:u=o.$$.smartPtr;break;case 2:if(o.$$.smartPtrType===this)u=o.$$.smartPtr;else{var _=o.clone();u=this.rawShare(u,Zt.toHandle(()=>_.delete())),s!==null&&s.push(this.rawDestructor,u)}break;default:Pt("Unsupporting sharing policy")}return u}function pu(s,o){if(o===null)return this.isReference&&Pt(`null is not a valid ${this.name}`),0;o.$$||Pt(`Cannot pass "${Ii(o)}" as a ${this.name}`),o.$$.ptr||Pt(`Cannot pass deleted object as a pointer of type ${this.name}`),o.$$.ptrType.isConst&&Pt(`Cannot convert argument of type ${o.$$.ptrType.name} to parameter type ${this.name}`);var u=o.$$.ptrType.registeredClass,f=ds(o.$$.ptr,u,this.registeredClass);return f}function fs(s){return this.fromWireType(nt[s>>2])}var mu=()=>{Object.assign(ps.prototype,{getPointee(s){return this.rawGetPointee&&(s=this.rawGetPointee(s)),s},destructor(s){this.rawDestructor?.(s)},argPackAdvance:Kn,readValueFromPointer:fs,fromWireType:wo})};function ps(s,o,u,f,_,S,T,P,B,Q,ae){this.name=s,this.registeredClass=o,this.isReference=u,this.isConst=f,this.isSmartPointer=_,this.pointeeType=S,this.sharingPolicy=T,this.rawGetPointee=P,this.rawConstructor=B,this.rawShare=Q,this.rawDestructor=ae,!_&&o.baseClass===void 0?f?(this.toWireType=du,this.destructorFunction=null):(this.toWireType=pu,this.destructorFunction=null):this.toWireType=fu}var Eo=(s,o,u)=>{t.hasOwnProperty(s)||os("Replacing nonexistent public symbol"),t[s].overloadTable!==void 0&&u!==void 0?t[s].overloadTable[u]=o:(t[s]=o,t[s].argCount=u)},To=[],ms,Pe=s=>{var o=To[s];return o||(To[s]=o=ms.get(s)),H(ms.get(s)==o,"JavaScript-side Wasm function table mirror is out of date!"),o},ui=(s,o,u=!1)=>{H(!u,"Async bindings are only supported with JSPI."),s=dn(s);function f(){var S=Pe(o);return S}var _=f();return typeof _!="function"&&Pt(`unknown function pointer with signature ${s}: ${o}`),_};class gu extends Error{}var Ao=s=>{var o=tf(s),u=dn(o);return bi(o),u},$i=(s,o)=>{var u=[],f={};function _(S){if(!f[S]&&!Pi[S]){if(hr[S]){hr[S].forEach(_);return}u.push(S),f[S]=!0}}throw o.forEach(_),new gu(`${s}: `+u.map(Ao).join([", "]))},Qn=(s,o,u)=>{s.forEach(P=>hr[P]=o);function f(P){var B=u(P);B.length!==s.length&&os("Mismatched type converter count");for(var Q=0;Q<s.length;++Q)In(s[Q],B[Q])}var _=new Array(o.length),S=[],T=0;o.forEach((P,B)=>{Pi.hasOwnProperty(P)?_[B]=Pi[P]:(S.push(P),Wi.hasOwnProperty(P)||(Wi[P]=[]),Wi[P].push(()=>{_[B]=Pi[P],++T,T===S.length&&f(_)}))}),S.length===0&&f(_)},_u=(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe)=>{ae=dn(ae),S=ui(_,S),P&&=ui(T,P),Q&&=ui(B,Q),xe=ui(pe,xe);var _e=uu(ae);ca(_e,function(){$i(`Cannot construct ${ae} due to unbound types`,[f])}),Qn([s,o,u],f?[f]:[],Te=>{Te=Te[0];var ut,Nt;f?(ut=Te.registeredClass,Nt=ut.instancePrototype):Nt=us.prototype;var Rt=hs(ae,function(...tn){if(Object.getPrototypeOf(this)!==ln)throw new dr(`Use 'new' to construct ${ae}`);if(Gt.constructor_body===void 0)throw new dr(`${ae} has no accessible constructor`);var Or=Gt.constructor_body[tn.length];if(Or===void 0)throw new dr(`Tried to invoke ctor of ${ae} with invalid number of parameters (${tn.length}) - expected (${Object.keys(Gt.constructor_body).toString()}) parameters instead!`);return Or.apply(this,tn)}),ln=Object.create(Nt,{constructor:{value:Rt}});Rt.prototype=ln;var Gt=new hu(ae,Rt,ln,xe,ut,S,P,Q);Gt.baseClass&&(Gt.baseClass.__derivedClasses??=[],Gt.baseClass.__derivedClasses.push(Gt));var Ln=new ps(ae,Gt,!0,!1,!1),Sn=new ps(ae+"*",Gt,!1,!1,!1),Gn=new ps(ae+" const*",Gt,!1,!0,!1);return xi[s]={pointerType:Sn,constPointerType:Gn},Eo(_e,Rt),[Ln,Sn,Gn]})},ua=s=>{for(;s.length;){var o=s.pop(),u=s.pop();u(o)}};function Ro(s){for(var o=1;o<s.length;++o)if(s[o]!==null&&s[o].destructorFunction===void 0)return!0;return!1}function vu(s,o,u,f,_){if(s<o||s>u){var S=o==u?o:`${o} to ${u}`;_(`function ${f} called with ${s} arguments, expected ${S}`)}}function yu(s,o,u,f){var _=Ro(s),S=s.length-2,T=[],P=["fn"];o&&P.push("thisWired");for(var B=0;B<S;++B)T.push(`arg${B}`),P.push(`arg${B}Wired`);T=T.join(","),P=P.join(",");var Q=`return function (${T}) {
`;Q+=`checkArgCount(arguments.length, minArgs, maxArgs, humanName, throwBindingError);
`,_&&(Q+=`var destructors = [];
`);var ae=_?"destructors":"null",pe=["humanName","throwBindingError","invoker","fn","runDestructors","retType","classParam"];o&&(Q+=`var thisWired = classParam['toWireType'](${ae}, this);
`);for(var B=0;B<S;++B)Q+=`var arg${B}Wired = argType${B}['toWireType'](${ae}, arg${B});
`,pe.push(`argType${B}`);Q+=(u||f?"var rv = ":"")+`invoker(${P});
`;var xe=u?"rv":"";if(_)Q+=`runDestructors(destructors);
`;else for(var B=o?1:2;B<s.length;++B){var _e=B===1?"thisWired":"arg"+(B-2)+"Wired";s[B].destructorFunction!==null&&(Q+=`${_e}_dtor(${_e});
`,pe.push(`${_e}_dtor`))}return u&&(Q+=`var ret = retType['fromWireType'](rv);
return ret;
`),Q+=`}
`,pe.push("checkArgCount","minArgs","maxArgs"),Q=`if (arguments.length !== ${pe.length}){ throw new Error(humanName + "Expected ${pe.length} closure arguments " + arguments.length + " given."); }
${Q}`,[pe,Q]}function gs(s){for(var o=s.length-2,u=s.length-1;u>=2&&s[u].optional;--u)o--;return o}function x(s,o,u,f,_,S){var T=o.length;T<2&&Pt("argTypes array size mismatch! Must at least get return value and 'this' types!"),H(!S,"Async bindings are only supported with JSPI.");for(var P=o[1]!==null&&u!==null,B=Ro(o),Q=o[0].name!=="void",ae=T-2,pe=gs(o),xe=[s,Pt,f,_,ua,o[0],o[1]],_e=0;_e<T-2;++_e)xe.push(o[_e+2]);if(!B)for(var _e=P?1:2;_e<o.length;++_e)o[_e].destructorFunction!==null&&xe.push(o[_e].destructorFunction);xe.push(vu,pe,ae);let[Te,ut]=yu(o,P,Q,S);var Nt=new Function(...Te,ut)(...xe);return hs(s,Nt)}var R=(s,o)=>{for(var u=[],f=0;f<s;f++)u.push(nt[o+f*4>>2]);return u},G=s=>{s=s.trim();let o=s.indexOf("(");return o===-1?s:(H(s.endsWith(")"),"Parentheses for argument names should match."),s.slice(0,o))},z=(s,o,u,f,_,S,T,P,B)=>{var Q=R(u,f);o=dn(o),o=G(o),S=ui(_,S,P),Qn([],[s],ae=>{ae=ae[0];var pe=`${ae.name}.${o}`;function xe(){$i(`Cannot call ${pe} due to unbound types`,Q)}o.startsWith("@@")&&(o=Symbol[o.substring(2)]);var _e=ae.registeredClass.constructor;return _e[o]===void 0?(xe.argCount=u-1,_e[o]=xe):(la(_e,o,pe),_e[o].overloadTable[u-1]=xe),Qn([],Q,Te=>{var ut=[Te[0],null].concat(Te.slice(1)),Nt=x(pe,ut,null,S,T,P);if(_e[o].overloadTable===void 0?(Nt.argCount=u-1,_e[o]=Nt):_e[o].overloadTable[u-1]=Nt,ae.registeredClass.__derivedClasses)for(let Rt of ae.registeredClass.__derivedClasses)Rt.constructor.hasOwnProperty(o)||(Rt.constructor[o]=Nt);return[]}),[]})},Z=(s,o,u,f,_,S)=>{H(o>0);var T=R(o,u);_=ui(f,_);var P=[S],B=[];Qn([],[s],Q=>{Q=Q[0];var ae=`constructor ${Q.name}`;if(Q.registeredClass.constructor_body===void 0&&(Q.registeredClass.constructor_body=[]),Q.registeredClass.constructor_body[o-1]!==void 0)throw new dr(`Cannot register multiple constructors with identical number of parameters (${o-1}) for class '${Q.name}'! Overload resolution is currently only performed using the parameter count, not actual type info!`);return Q.registeredClass.constructor_body[o-1]=()=>{$i(`Cannot construct ${Q.name} due to unbound types`,T)},Qn([],T,pe=>(pe.splice(1,0,null),Q.registeredClass.constructor_body[o-1]=x(ae,pe,null,_,S),[])),[]})},oe=(s,o,u,f,_,S,T,P,B,Q)=>{var ae=R(u,f);o=dn(o),o=G(o),S=ui(_,S,B),Qn([],[s],pe=>{pe=pe[0];var xe=`${pe.name}.${o}`;o.startsWith("@@")&&(o=Symbol[o.substring(2)]),P&&pe.registeredClass.pureVirtualFunctions.push(o);function _e(){$i(`Cannot call ${xe} due to unbound types`,ae)}var Te=pe.registeredClass.instancePrototype,ut=Te[o];return ut===void 0||ut.overloadTable===void 0&&ut.className!==pe.name&&ut.argCount===u-2?(_e.argCount=u-2,_e.className=pe.name,Te[o]=_e):(la(Te,o,xe),Te[o].overloadTable[u-2]=_e),Qn([],ae,Nt=>{var Rt=x(xe,Nt,pe,S,T,B);return Te[o].overloadTable===void 0?(Rt.argCount=u-2,Te[o]=Rt):Te[o].overloadTable[u-2]=Rt,[]}),[]})},Ne=(s,o,u)=>(s instanceof Object||Pt(`${u} with invalid "this": ${s}`),s instanceof o.registeredClass.constructor||Pt(`${u} incompatible with "this" of type ${s.constructor.name}`),s.$$.ptr||Pt(`cannot call emscripten binding method ${u} on deleted object`),ds(s.$$.ptr,s.$$.ptrType.registeredClass,o.registeredClass)),st=(s,o,u,f,_,S,T,P,B,Q)=>{o=dn(o),_=ui(f,_),Qn([],[s],ae=>{ae=ae[0];var pe=`${ae.name}.${o}`,xe={get(){$i(`Cannot access ${pe} due to unbound types`,[u,T])},enumerable:!0,configurable:!0};return B?xe.set=()=>$i(`Cannot access ${pe} due to unbound types`,[u,T]):xe.set=_e=>Pt(pe+" is a read-only property"),Object.defineProperty(ae.registeredClass.instancePrototype,o,xe),Qn([],B?[u,T]:[u],_e=>{var Te=_e[0],ut={get(){var Rt=Ne(this,ae,pe+" getter");return Te.fromWireType(_(S,Rt))},enumerable:!0};if(B){B=ui(P,B);var Nt=_e[1];ut.set=function(Rt){var ln=Ne(this,ae,pe+" setter"),Gt=[];B(Q,ln,Nt.toWireType(Gt,Rt)),ua(Gt)}}return Object.defineProperty(ae.registeredClass.instancePrototype,o,ut),[]}),[]})},At=(s,o,u)=>{s=dn(s),Qn([],[o],f=>(f=f[0],t[s]=f.fromWireType(u),[]))},It=[],en=[0,1,,1,null,1,!0,1,!1,1],zn=s=>{s>9&&--en[s+1]===0&&(H(en[s]!==void 0,"Decref for unallocated handle."),en[s]=void 0,It.push(s))},Zt={toValue:s=>(s||Pt(`Cannot use deleted val. handle = ${s}`),H(s===2||en[s]!==void 0&&s%2===0,`invalid handle: ${s}`),en[s]),toHandle:s=>{switch(s){case void 0:return 2;case null:return 4;case!0:return 6;case!1:return 8;default:{let o=It.pop()||en.length;return en[o]=s,en[o+1]=1,o}}}},hi={name:"emscripten::val",fromWireType:s=>{var o=Zt.toValue(s);return zn(s),o},toWireType:(s,o)=>Zt.toHandle(o),argPackAdvance:Kn,readValueFromPointer:fs,destructorFunction:null},Co=s=>In(s,hi),xu=(s,o,u)=>{switch(o){case 1:return u?function(f){return this.fromWireType(mt[f])}:function(f){return this.fromWireType(Wt[f])};case 2:return u?function(f){return this.fromWireType(Et[f>>1])}:function(f){return this.fromWireType(gn[f>>1])};case 4:return u?function(f){return this.fromWireType(ze[f>>2])}:function(f){return this.fromWireType(nt[f>>2])};default:throw new TypeError(`invalid integer width (${o}): ${s}`)}},bu=(s,o,u,f)=>{o=dn(o);function _(){}_.values={},In(s,{name:o,constructor:_,fromWireType:function(S){return this.constructor.values[S]},toWireType:(S,T)=>T.value,argPackAdvance:Kn,readValueFromPointer:xu(o,u,f),destructorFunction:null}),ca(o,_)},fr=(s,o)=>{var u=Pi[s];return u===void 0&&Pt(`${o} has unknown type ${Ao(s)}`),u},Bg=(s,o,u)=>{var f=fr(s,"enum");o=dn(o);var _=f.constructor,S=Object.create(f.constructor.prototype,{value:{value:u},constructor:{value:hs(`${f.name}_${o}`,function(){})}});_.values[u]=S,_[o]=S},kg=(s,o)=>{switch(o){case 4:return function(u){return this.fromWireType(yn[u>>2])};case 8:return function(u){return this.fromWireType(rn[u>>3])};default:throw new TypeError(`invalid float width (${o}): ${s}`)}},zg=(s,o,u)=>{o=dn(o),In(s,{name:o,fromWireType:f=>f,toWireType:(f,_)=>{if(typeof _!="number"&&typeof _!="boolean")throw new TypeError(`Cannot convert ${Ii(_)} to ${this.name}`);return _},argPackAdvance:Kn,readValueFromPointer:kg(o,u),destructorFunction:null})},Gg=(s,o,u,f,_,S,T,P)=>{var B=R(o,u);s=dn(s),s=G(s),_=ui(f,_,T),ca(s,function(){$i(`Cannot call ${s} due to unbound types`,B)},o-1),Qn([],B,Q=>{var ae=[Q[0],null].concat(Q.slice(1));return Eo(s,x(s,ae,null,_,S,T),o-1),[]})},Vg=(s,o,u,f,_)=>{o=dn(o);let S=f===0,T=B=>B;if(S){var P=32-8*u;T=B=>B<<P>>>P,_=T(_)}In(s,{name:o,fromWireType:T,toWireType:(B,Q)=>{if(typeof Q!="number"&&typeof Q!="boolean")throw new TypeError(`Cannot convert "${Ii(Q)}" to ${o}`);return Mt(o,Q,f,_),Q},argPackAdvance:Kn,readValueFromPointer:ra(o,u,f!==0),destructorFunction:null})},Hg=(s,o,u)=>{var f=[Int8Array,Uint8Array,Int16Array,Uint16Array,Int32Array,Uint32Array,Float32Array,Float64Array,BigInt64Array,BigUint64Array],_=f[o];function S(T){var P=nt[T>>2],B=nt[T+4>>2];return new _(mt.buffer,B,P)}u=dn(u),In(s,{name:u,fromWireType:S,argPackAdvance:Kn,readValueFromPointer:S},{ignoreDuplicateRegistrations:!0})},Wg=Object.assign({optional:!0},hi),$g=(s,o)=>{In(s,Wg)},Nr=(s,o,u)=>(H(typeof u=="number","stringToUTF8(str, outPtr, maxBytesToWrite) is missing the third parameter that specifies the length of the output buffer!"),dt(s,Wt,o,u)),Xg=(s,o)=>{o=dn(o);var u=!0;In(s,{name:o,fromWireType(f){var _=nt[f>>2],S=f+4,T;if(u)for(var P=S,B=0;B<=_;++B){var Q=S+B;if(B==_||Wt[Q]==0){var ae=Q-P,pe=bn(P,ae);T===void 0?T=pe:(T+="\0",T+=pe),P=Q+1}}else{for(var xe=new Array(_),B=0;B<_;++B)xe[B]=String.fromCharCode(Wt[S+B]);T=xe.join("")}return bi(f),T},toWireType(f,_){_ instanceof ArrayBuffer&&(_=new Uint8Array(_));var S,T=typeof _=="string";T||ArrayBuffer.isView(_)&&_.BYTES_PER_ELEMENT==1||Pt("Cannot pass non-string to std::string"),u&&T?S=Je(_):S=_.length;var P=Eu(4+S+1),B=P+4;if(nt[P>>2]=S,T)if(u)Nr(_,B,S+1);else for(var Q=0;Q<S;++Q){var ae=_.charCodeAt(Q);ae>255&&(bi(P),Pt("String has UTF-16 code units that do not fit in 8 bits")),Wt[B+Q]=ae}else Wt.set(_,B);return f!==null&&f.push(bi,P),P},argPackAdvance:Kn,readValueFromPointer:fs,destructorFunction(f){bi(f)}})},Hd=typeof TextDecoder<"u"?new TextDecoder("utf-16le"):void 0,qg=(s,o)=>{H(s%2==0,"Pointer passed to UTF16ToString must be aligned to two bytes!");for(var u=s>>1,f=u+o/2,_=u;!(_>=f)&&gn[_];)++_;if(_-u>16&&Hd)return Hd.decode(gn.subarray(u,_));for(var S="",T=u;!(T>=f);++T){var P=gn[T];if(P==0)break;S+=String.fromCharCode(P)}return S},jg=(s,o,u)=>{if(H(o%2==0,"Pointer passed to stringToUTF16 must be aligned to two bytes!"),H(typeof u=="number","stringToUTF16(str, outPtr, maxBytesToWrite) is missing the third parameter that specifies the length of the output buffer!"),u??=2147483647,u<2)return 0;u-=2;for(var f=o,_=u<s.length*2?u/2:s.length,S=0;S<_;++S){var T=s.charCodeAt(S);Et[o>>1]=T,o+=2}return Et[o>>1]=0,o-f},Yg=s=>s.length*2,Jg=(s,o)=>{H(s%4==0,"Pointer passed to UTF32ToString must be aligned to four bytes!");for(var u="",f=0;!(f>=o/4);f++){var _=ze[s+f*4>>2];if(!_)break;u+=String.fromCodePoint(_)}return u},Zg=(s,o,u)=>{if(H(o%4==0,"Pointer passed to stringToUTF32 must be aligned to four bytes!"),H(typeof u=="number","stringToUTF32(str, outPtr, maxBytesToWrite) is missing the third parameter that specifies the length of the output buffer!"),u??=2147483647,u<4)return 0;for(var f=o,_=f+u-4,S=0;S<s.length;++S){var T=s.codePointAt(S);if(T>65535&&S++,ze[o>>2]=T,o+=4,o+4>_)break}return ze[o>>2]=0,o-f},Kg=s=>{for(var o=0,u=0;u<s.length;++u){var f=s.codePointAt(u);f>65535&&u++,o+=4}return o},Qg=(s,o,u)=>{u=dn(u);var f,_,S,T;o===2?(f=qg,_=jg,T=Yg,S=P=>gn[P>>1]):o===4&&(f=Jg,_=Zg,T=Kg,S=P=>nt[P>>2]),In(s,{name:u,fromWireType:P=>{for(var B=nt[P>>2],Q,ae=P+4,pe=0;pe<=B;++pe){var xe=P+4+pe*o;if(pe==B||S(xe)==0){var _e=xe-ae,Te=f(ae,_e);Q===void 0?Q=Te:(Q+="\0",Q+=Te),ae=xe+o}}return bi(P),Q},toWireType:(P,B)=>{typeof B!="string"&&Pt(`Cannot pass non-string to C++ string type ${u}`);var Q=T(B),ae=Eu(4+Q+o);return nt[ae>>2]=Q/o,_(B,ae+4,Q+o),P!==null&&P.push(bi,ae),ae},argPackAdvance:Kn,readValueFromPointer:fs,destructorFunction(P){bi(P)}})},e0=(s,o)=>{Co(s)},t0=(s,o)=>{o=dn(o),In(s,{isVoid:!0,name:o,argPackAdvance:0,fromWireType:()=>{},toWireType:(u,f)=>{}})},n0=()=>{throw new ye},Wd=(s,o,u)=>{var f=[],_=s.toWireType(f,u);return f.length&&(nt[o>>2]=Zt.toHandle(f)),_},i0=(s,o,u)=>(s=Zt.toValue(s),o=fr(o,"emval::as"),Wd(o,u,s)),Po=[],r0=(s,o,u,f)=>(s=Po[s],o=Zt.toValue(o),s(null,o,u,f)),s0={},Su=s=>{var o=s0[s];return o===void 0?dn(s):o},a0=(s,o,u,f,_)=>(s=Po[s],o=Zt.toValue(o),u=Su(u),s(o,o[u],f,_)),$d=()=>globalThis,o0=s=>s===0?Zt.toHandle($d()):(s=Su(s),Zt.toHandle($d()[s])),l0=s=>{var o=Po.length;return Po.push(s),o},c0=(s,o)=>{for(var u=new Array(s),f=0;f<s;++f)u[f]=fr(nt[o+f*4>>2],`parameter ${f}`);return u},u0=(s,o,u)=>{var f=c0(s,o),_=f.shift();s--;var S=`return function (obj, func, destructorsRef, args) {
`,T=0,P=[];u===0&&P.push("obj");for(var B=["retType"],Q=[_],ae=0;ae<s;++ae)P.push(`arg${ae}`),B.push(`argType${ae}`),Q.push(f[ae]),S+=`  var arg${ae} = argType${ae}.readValueFromPointer(args${T?"+"+T:""});
`,T+=f[ae].argPackAdvance;var pe=u===1?"new func":"func.call";S+=`  var rv = ${pe}(${P.join(", ")});
`,_.isVoid||(B.push("emval_returnValue"),Q.push(Wd),S+=`  return emval_returnValue(retType, destructorsRef, rv);
`),S+=`};
`;var xe=new Function(...B,S)(...Q),_e=`methodCaller<(${f.map(Te=>Te.name).join(", ")}) => ${_.name}>`;return l0(hs(_e,xe))},h0=(s,o)=>(s=Zt.toValue(s),o=Zt.toValue(o),Zt.toHandle(s[o])),d0=s=>{s>9&&(en[s+1]+=1)},f0=s=>(s=Zt.toValue(s),typeof s=="number"),p0=s=>(s=Zt.toValue(s),typeof s=="string"),m0=()=>Zt.toHandle([]),g0=s=>Zt.toHandle(Su(s)),_0=s=>{var o=Zt.toValue(s);ua(o),zn(s)},v0=(s,o)=>{s=fr(s,"_emval_take_value");var u=s.readValueFromPointer(o);return Zt.toHandle(u)},y0=s=>{throw s=Zt.toValue(s),s},x0=s=>s%4===0&&(s%100!==0||s%400===0),b0=[0,31,60,91,121,152,182,213,244,274,305,335],S0=[0,31,59,90,120,151,181,212,243,273,304,334],Xd=s=>{var o=x0(s.getFullYear()),u=o?b0:S0,f=u[s.getMonth()]+s.getDate()-1;return f},w0=9007199254740992,M0=-9007199254740992,wu=s=>s<M0||s>w0?NaN:Number(s);function E0(s,o){s=wu(s);var u=new Date(s*1e3);ze[o>>2]=u.getSeconds(),ze[o+4>>2]=u.getMinutes(),ze[o+8>>2]=u.getHours(),ze[o+12>>2]=u.getDate(),ze[o+16>>2]=u.getMonth(),ze[o+20>>2]=u.getFullYear()-1900,ze[o+24>>2]=u.getDay();var f=Xd(u)|0;ze[o+28>>2]=f,ze[o+36>>2]=-(u.getTimezoneOffset()*60);var _=new Date(u.getFullYear(),0,1),S=new Date(u.getFullYear(),6,1).getTimezoneOffset(),T=_.getTimezoneOffset(),P=(S!=T&&u.getTimezoneOffset()==Math.min(T,S))|0;ze[o+32>>2]=P}var T0=function(s){var o=(()=>{var u=new Date(ze[s+20>>2]+1900,ze[s+16>>2],ze[s+12>>2],ze[s+8>>2],ze[s+4>>2],ze[s>>2],0),f=ze[s+32>>2],_=u.getTimezoneOffset(),S=new Date(u.getFullYear(),0,1),T=new Date(u.getFullYear(),6,1).getTimezoneOffset(),P=S.getTimezoneOffset(),B=Math.min(P,T);if(f<0)ze[s+32>>2]=+(T!=P&&B==_);else if(f>0!=(B==_)){var Q=Math.max(P,T),ae=f>0?B:Q;u.setTime(u.getTime()+(ae-_)*6e4)}ze[s+24>>2]=u.getDay();var pe=Xd(u)|0;ze[s+28>>2]=pe,ze[s>>2]=u.getSeconds(),ze[s+4>>2]=u.getMinutes(),ze[s+8>>2]=u.getHours(),ze[s+12>>2]=u.getDate(),ze[s+16>>2]=u.getMonth(),ze[s+20>>2]=u.getYear();var xe=u.getTime();return isNaN(xe)?-1:xe/1e3})();return BigInt(o)},A0=(s,o,u,f)=>{var _=new Date().getFullYear(),S=new Date(_,0,1),T=new Date(_,6,1),P=S.getTimezoneOffset(),B=T.getTimezoneOffset(),Q=Math.max(P,B);nt[s>>2]=Q*60,ze[o>>2]=+(P!=B);var ae=_e=>{var Te=_e>=0?"-":"+",ut=Math.abs(_e),Nt=String(Math.floor(ut/60)).padStart(2,"0"),Rt=String(ut%60).padStart(2,"0");return`UTC${Te}${Nt}${Rt}`},pe=ae(P),xe=ae(B);H(pe),H(xe),H(Je(pe)<=16,`timezone name truncated to fit in TZNAME_MAX (${pe})`),H(Je(xe)<=16,`timezone name truncated to fit in TZNAME_MAX (${xe})`),B<P?(Nr(pe,u,17),Nr(xe,f,17)):(Nr(pe,f,17),Nr(xe,u,17))},qd=()=>performance.now(),jd=()=>Date.now(),R0=1,C0=s=>s>=0&&s<=3;function P0(s,o,u){if(o=wu(o),!C0(s))return 28;var f;if(s===0)f=jd();else if(R0)f=qd();else return 52;var _=Math.round(f*1e3*1e3);return Y[u>>3]=BigInt(_),0}var Io=[],I0=(s,o)=>{H(Array.isArray(Io)),H(o%16==0),Io.length=0;for(var u;u=Wt[s++];){var f=String.fromCharCode(u),_=["d","f","i","p"];_.push("j"),H(_.includes(f),`Invalid character ${u}("${f}") in readEmAsmArgs! Use only [${_}], and do not specify "v" for void return argument.`);var S=u!=105;S&=u!=112,o+=S&&o%8?4:0,Io.push(u==112?nt[o>>2]:u==106?Y[o>>3]:u==105?ze[o>>2]:rn[o>>3]),o+=S?8:4}return Io},L0=(s,o,u)=>{var f=I0(o,u);return H(ef.hasOwnProperty(s),`No EM_ASM constant found at address ${s}.  The loaded WebAssembly file is likely out of sync with the generated JavaScript.`),ef[s](...f)},D0=(s,o,u)=>L0(s,o,u),Yd=()=>2147483648,F0=()=>Yd(),N0=(s,o)=>(H(o,"alignment argument is required"),Math.ceil(s/o)*o),U0=s=>{var o=Ht.buffer,u=(s-o.byteLength+65535)/65536|0;try{return Ht.grow(u),Xt(),1}catch(f){F(`growMemory: Attempted to grow heap from ${o.byteLength} bytes to ${s} bytes, but got error: ${f}`)}},O0=s=>{var o=Wt.length;s>>>=0,H(s>o);var u=Yd();if(s>u)return F(`Cannot enlarge memory, requested ${s} bytes, but the limit is ${u} bytes!`),!1;for(var f=1;f<=4;f*=2){var _=o*(1+.2/f);_=Math.min(_,s+100663296);var S=Math.min(u,N0(Math.max(s,_),65536)),T=U0(S);if(T)return!0}return F(`Failed to grow the heap from ${o} bytes to ${S} bytes, not enough memory!`),!1},Mu={},B0=()=>d||"./this.program",ha=()=>{if(!ha.strings){var s=(typeof navigator=="object"&&navigator.language||"C").replace("-","_")+".UTF-8",o={USER:"web_user",LOGNAME:"web_user",PATH:"/",PWD:"/",HOME:"/home/web_user",LANG:s,_:B0()};for(var u in Mu)Mu[u]===void 0?delete o[u]:o[u]=Mu[u];var f=[];for(var u in o)f.push(`${u}=${o[u]}`);ha.strings=f}return ha.strings},k0=(s,o)=>{var u=0,f=0;for(var _ of ha()){var S=o+u;nt[s+f>>2]=S,u+=Nr(_,S,1/0)+1,f+=4}return 0},z0=(s,o)=>{var u=ha();nt[s>>2]=u.length;var f=0;for(var _ of u)f+=Je(_)+1;return nt[o>>2]=f,0},Jd=0,Zd=()=>kt||Jd>0,G0=s=>{te=s,Zd()||(t.onExit?.(s),X=!0),p(s,new Fe(s))},V0=(s,o)=>{if(te=s,ny(),Zd()&&!o){var u=`program exited (with status: ${s}), but keepRuntimeAlive() is set (counter=${Jd}) due to an async operation, so halting execution but not exiting the runtime or preventing further async execution (you can use emscripten_force_exit, if you want to force a true shutdown)`;bt?.(u),F(u)}G0(s)},H0=V0;function W0(s){try{var o=vt.getStreamFromFD(s);return M.close(o),0}catch(u){if(typeof M>"u"||u.name!=="ErrnoError")throw u;return u.errno}}var $0=(s,o,u,f)=>{for(var _=0,S=0;S<u;S++){var T=nt[o>>2],P=nt[o+4>>2];o+=8;var B=M.read(s,mt,T,P,f);if(B<0)return-1;if(_+=B,B<P)break;typeof f<"u"&&(f+=B)}return _};function X0(s,o,u,f){try{var _=vt.getStreamFromFD(s),S=$0(_,o,u);return nt[f>>2]=S,0}catch(T){if(typeof M>"u"||T.name!=="ErrnoError")throw T;return T.errno}}function q0(s,o,u,f){o=wu(o);try{if(isNaN(o))return 61;var _=vt.getStreamFromFD(s);return M.llseek(_,o,u),Y[f>>3]=BigInt(_.position),_.getdents&&o===0&&u===0&&(_.getdents=null),0}catch(S){if(typeof M>"u"||S.name!=="ErrnoError")throw S;return S.errno}}var j0=(s,o,u,f)=>{for(var _=0,S=0;S<u;S++){var T=nt[o>>2],P=nt[o+4>>2];o+=8;var B=M.write(s,mt,T,P,f);if(B<0)return-1;if(_+=B,B<P)break;typeof f<"u"&&(f+=B)}return _};function Y0(s,o,u,f){try{var _=vt.getStreamFromFD(s),S=j0(_,o,u);return nt[f>>2]=S,0}catch(T){if(typeof M>"u"||T.name!=="ErrnoError")throw T;return T.errno}}var J0=s=>s,Z0=s=>{var o=t["_"+s];return H(o,"Cannot call unknown function "+s+", make sure it is exported"),o},K0=(s,o)=>{H(s.length>=0,"writeArrayToMemory array must have a length (should be an array or typed array)"),mt.set(s,o)},Lo=s=>of(s),Q0=s=>{var o=Je(s)+1,u=Lo(o);return Nr(s,u,o),u},Kd=(s,o,u,f,_)=>{var S={string:Te=>{var ut=0;return Te!=null&&Te!==0&&(ut=Q0(Te)),ut},array:Te=>{var ut=Lo(Te.length);return K0(Te,ut),ut}};function T(Te){return o==="string"?bn(Te):o==="boolean"?!!Te:Te}var P=Z0(s),B=[],Q=0;if(H(o!=="array",'Return type should not be "array".'),f)for(var ae=0;ae<f.length;ae++){var pe=S[u[ae]];pe?(Q===0&&(Q=Me()),B[ae]=pe(f[ae])):B[ae]=f[ae]}var xe=P(...B);function _e(Te){return Q!==0&&Ee(Q),T(Te)}return xe=_e(xe),xe},e_=(s,o,u,f)=>(..._)=>Kd(s,o,u,_,f),t_=(...s)=>M.createPath(...s),n_=(...s)=>M.unlink(...s),i_=(...s)=>M.createLazyFile(...s),r_=(...s)=>M.createDevice(...s),s_=s=>Do(s),a_=s=>Ru(s),o_=s=>{var o=Me(),u=Lo(4),f=Lo(4);cf(s,u,f);var _=nt[u>>2],S=nt[f>>2],T=bn(_);bi(_);var P;return S&&(P=bn(S),bi(S)),Ee(o),[T,P]},Qd=s=>o_(s);M.createPreloadedFile=Bn,M.staticInit(),ou(),mu(),H(en.length===10),t.noExitRuntime&&(kt=t.noExitRuntime),t.preloadPlugins&&(on=t.preloadPlugins),t.print&&(U=t.print),t.printErr&&(F=t.printErr),t.wasmBinary&&(ne=t.wasmBinary),u_(),t.arguments&&(h=t.arguments),t.thisProgram&&(d=t.thisProgram),H(typeof t.memoryInitializerPrefixURL>"u","Module.memoryInitializerPrefixURL option was removed, use Module.locateFile instead"),H(typeof t.pthreadMainPrefixURL>"u","Module.pthreadMainPrefixURL option was removed, use Module.locateFile instead"),H(typeof t.cdInitializerPrefixURL>"u","Module.cdInitializerPrefixURL option was removed, use Module.locateFile instead"),H(typeof t.filePackagePrefixURL>"u","Module.filePackagePrefixURL option was removed, use Module.locateFile instead"),H(typeof t.read>"u","Module.read option was removed"),H(typeof t.readAsync>"u","Module.readAsync option was removed (modify readAsync in JS)"),H(typeof t.readBinary>"u","Module.readBinary option was removed (modify readBinary in JS)"),H(typeof t.setWindowTitle>"u","Module.setWindowTitle option was removed (modify emscripten_set_window_title in JS)"),H(typeof t.TOTAL_MEMORY>"u","Module.TOTAL_MEMORY has been renamed Module.INITIAL_MEMORY"),H(typeof t.ENVIRONMENT>"u","Module.ENVIRONMENT has been deprecated. To force the environment, use the ENVIRONMENT compile-time option (for example, -sENVIRONMENT=web or -sENVIRONMENT=node)"),H(typeof t.STACK_SIZE>"u","STACK_SIZE can no longer be set at runtime.  Use -sSTACK_SIZE at link time"),H(typeof t.wasmMemory>"u","Use of `wasmMemory` detected.  Use -sIMPORTED_MEMORY to define wasmMemory externally"),H(typeof t.INITIAL_MEMORY>"u","Detected runtime INITIAL_MEMORY setting.  Use -sIMPORTED_MEMORY to define wasmMemory dynamically"),t.addRunDependency=we,t.removeRunDependency=ve,t.ccall=Kd,t.cwrap=e_,t.FS_createPreloadedFile=Bn,t.FS_unlink=n_,t.FS_createPath=t_,t.FS_createDevice=r_,t.FS=M,t.FS_createDataFile=_n,t.FS_createLazyFile=i_,t.MEMFS=Ye;var l_=["writeI53ToI64","writeI53ToI64Clamped","writeI53ToI64Signaling","writeI53ToU64Clamped","writeI53ToU64Signaling","readI53FromI64","readI53FromU64","convertI32PairToI53","convertI32PairToI53Checked","convertU32PairToI53","getTempRet0","zeroMemory","withStackSave","inetPton4","inetNtop4","inetPton6","inetNtop6","readSockaddr","writeSockaddr","emscriptenLog","runMainThreadEmAsm","jstoi_q","autoResumeAudioContext","getDynCaller","dynCall","handleException","runtimeKeepalivePush","runtimeKeepalivePop","callUserCallback","maybeExit","asmjsMangle","HandleAllocator","getNativeTypeSize","addOnInit","addOnPostCtor","addOnPreMain","addOnExit","STACK_SIZE","STACK_ALIGN","POINTER_SIZE","ASSERTIONS","uleb128Encode","sigToWasmTypes","generateFuncType","convertJsFunctionToWasm","getEmptyTableSlot","updateTableMap","getFunctionAddress","addFunction","removeFunction","reallyNegative","unSign","strLen","reSign","formatString","intArrayToString","stringToAscii","stringToNewUTF8","registerKeyEventCallback","maybeCStringToJsString","findEventTarget","getBoundingClientRect","fillMouseEventData","registerMouseEventCallback","registerWheelEventCallback","registerUiEventCallback","registerFocusEventCallback","fillDeviceOrientationEventData","registerDeviceOrientationEventCallback","fillDeviceMotionEventData","registerDeviceMotionEventCallback","screenOrientation","fillOrientationChangeEventData","registerOrientationChangeEventCallback","fillFullscreenChangeEventData","registerFullscreenChangeEventCallback","JSEvents_requestFullscreen","JSEvents_resizeCanvasForFullscreen","registerRestoreOldStyle","hideEverythingExceptGivenElement","restoreHiddenElements","setLetterbox","softFullscreenResizeWebGLRenderTarget","doRequestFullscreen","fillPointerlockChangeEventData","registerPointerlockChangeEventCallback","registerPointerlockErrorEventCallback","requestPointerLock","fillVisibilityChangeEventData","registerVisibilityChangeEventCallback","registerTouchEventCallback","fillGamepadEventData","registerGamepadEventCallback","registerBeforeUnloadEventCallback","fillBatteryEventData","battery","registerBatteryEventCallback","setCanvasElementSize","getCanvasElementSize","jsStackTrace","getCallstack","convertPCtoSourceLocation","wasiRightsToMuslOFlags","wasiOFlagsToMuslOFlags","safeSetTimeout","setImmediateWrapped","safeRequestAnimationFrame","clearImmediateWrapped","registerPostMainLoop","registerPreMainLoop","getPromise","makePromise","idsToPromises","makePromiseCallback","Browser_asyncPrepareDataCounter","arraySum","addDays","getSocketFromFD","getSocketAddress","FS_mkdirTree","_setNetworkCallback","heapObjectForWebGLType","toTypedArrayIndex","webgl_enable_ANGLE_instanced_arrays","webgl_enable_OES_vertex_array_object","webgl_enable_WEBGL_draw_buffers","webgl_enable_WEBGL_multi_draw","webgl_enable_EXT_polygon_offset_clamp","webgl_enable_EXT_clip_control","webgl_enable_WEBGL_polygon_mode","emscriptenWebGLGet","computeUnpackAlignedImageSize","colorChannelsInGlTextureFormat","emscriptenWebGLGetTexPixelData","emscriptenWebGLGetUniform","webglGetUniformLocation","webglPrepareUniformLocationsBeforeFirstUse","webglGetLeftBracePos","emscriptenWebGLGetVertexAttrib","__glGetActiveAttribOrUniform","writeGLArray","registerWebGlEventCallback","runAndAbortIfError","ALLOC_NORMAL","ALLOC_STACK","allocate","writeStringToMemory","writeAsciiToMemory","demangle","stackTrace","getFunctionArgsName","createJsInvokerSignature","PureVirtualError","registerInheritedInstance","unregisterInheritedInstance","getInheritedInstanceCount","getLiveInheritedInstances","setDelayFunction","count_emval_handles"];l_.forEach(Oe);var c_=["run","out","err","callMain","abort","wasmMemory","wasmExports","HEAPF32","HEAPF64","HEAP8","HEAPU8","HEAP16","HEAPU16","HEAP32","HEAPU32","HEAP64","HEAPU64","writeStackCookie","checkStackCookie","INT53_MAX","INT53_MIN","bigintToI53Checked","stackSave","stackRestore","stackAlloc","setTempRet0","ptrToString","exitJS","getHeapMax","growMemory","ENV","ERRNO_CODES","strError","DNS","Protocols","Sockets","timers","warnOnce","readEmAsmArgsArray","readEmAsmArgs","runEmAsmFunction","getExecutableName","keepRuntimeAlive","asyncLoad","alignMemory","mmapAlloc","wasmTable","getUniqueRunDependency","noExitRuntime","addOnPreRun","addOnPostRun","freeTableIndexes","functionsInTableMap","setValue","getValue","PATH","PATH_FS","UTF8Decoder","UTF8ArrayToString","UTF8ToString","stringToUTF8Array","stringToUTF8","lengthBytesUTF8","intArrayFromString","AsciiToString","UTF16Decoder","UTF16ToString","stringToUTF16","lengthBytesUTF16","UTF32ToString","stringToUTF32","lengthBytesUTF32","stringToUTF8OnStack","writeArrayToMemory","JSEvents","specialHTMLTargets","findCanvasEventTarget","currentFullscreenStrategy","restoreOldWindowedStyle","UNWIND_CACHE","ExitStatus","getEnvStrings","checkWasiClock","doReadv","doWritev","initRandomFill","randomFill","emSetImmediate","emClearImmediate_deps","emClearImmediate","promiseMap","uncaughtExceptionCount","exceptionLast","exceptionCaught","ExceptionInfo","findMatchingCatch","getExceptionMessageCommon","Browser","requestFullscreen","requestFullScreen","setCanvasSize","getUserMedia","createContext","getPreloadedImageData__data","wget","MONTH_DAYS_REGULAR","MONTH_DAYS_LEAP","MONTH_DAYS_REGULAR_CUMULATIVE","MONTH_DAYS_LEAP_CUMULATIVE","isLeapYear","ydayFromDate","SYSCALLS","preloadPlugins","FS_modeStringToFlags","FS_getMode","FS_stdin_getChar_buffer","FS_stdin_getChar","FS_readFile","FS_root","FS_mounts","FS_devices","FS_streams","FS_nextInode","FS_nameTable","FS_currentPath","FS_initialized","FS_ignorePermissions","FS_filesystems","FS_syncFSRequests","FS_readFiles","FS_lookupPath","FS_getPath","FS_hashName","FS_hashAddNode","FS_hashRemoveNode","FS_lookupNode","FS_createNode","FS_destroyNode","FS_isRoot","FS_isMountpoint","FS_isFile","FS_isDir","FS_isLink","FS_isChrdev","FS_isBlkdev","FS_isFIFO","FS_isSocket","FS_flagsToPermissionString","FS_nodePermissions","FS_mayLookup","FS_mayCreate","FS_mayDelete","FS_mayOpen","FS_checkOpExists","FS_nextfd","FS_getStreamChecked","FS_getStream","FS_createStream","FS_closeStream","FS_dupStream","FS_doSetAttr","FS_chrdev_stream_ops","FS_major","FS_minor","FS_makedev","FS_registerDevice","FS_getDevice","FS_getMounts","FS_syncfs","FS_mount","FS_unmount","FS_lookup","FS_mknod","FS_statfs","FS_statfsStream","FS_statfsNode","FS_create","FS_mkdir","FS_mkdev","FS_symlink","FS_rename","FS_rmdir","FS_readdir","FS_readlink","FS_stat","FS_fstat","FS_lstat","FS_doChmod","FS_chmod","FS_lchmod","FS_fchmod","FS_doChown","FS_chown","FS_lchown","FS_fchown","FS_doTruncate","FS_truncate","FS_ftruncate","FS_utime","FS_open","FS_close","FS_isClosed","FS_llseek","FS_read","FS_write","FS_mmap","FS_msync","FS_ioctl","FS_writeFile","FS_cwd","FS_chdir","FS_createDefaultDirectories","FS_createDefaultDevices","FS_createSpecialDirectories","FS_createStandardStreams","FS_staticInit","FS_init","FS_quit","FS_findObject","FS_analyzePath","FS_createFile","FS_forceLoadFile","FS_absolutePath","FS_createFolder","FS_createLink","FS_joinPath","FS_mmapAlloc","FS_standardizePath","TTY","PIPEFS","SOCKFS","tempFixedLengthArray","miniTempWebGLFloatBuffers","miniTempWebGLIntBuffers","GL","AL","GLUT","EGL","GLEW","IDBStore","SDL","SDL_gfx","allocateUTF8","allocateUTF8OnStack","print","printErr","jstoi_s","InternalError","BindingError","throwInternalError","throwBindingError","registeredTypes","awaitingDependencies","typeDependencies","tupleRegistrations","structRegistrations","sharedRegisterType","whenDependentTypesAreResolved","getTypeName","getFunctionName","heap32VectorToArray","requireRegisteredType","usesDestructorStack","checkArgCount","getRequiredArgCount","createJsInvoker","UnboundTypeError","GenericWireTypeSize","EmValType","EmValOptionalType","throwUnboundTypeError","ensureOverloadTable","exposePublicSymbol","replacePublicSymbol","createNamedFunction","embindRepr","registeredInstances","getBasestPointer","getInheritedInstance","registeredPointers","registerType","integerReadValueFromPointer","enumReadValueFromPointer","floatReadValueFromPointer","assertIntegerRange","readPointer","runDestructors","craftInvokerFunction","embind__requireFunction","genericPointerToWireType","constNoSmartPtrRawPointerToWireType","nonConstNoSmartPtrRawPointerToWireType","init_RegisteredPointer","RegisteredPointer","RegisteredPointer_fromWireType","runDestructor","releaseClassHandle","finalizationRegistry","detachFinalizer_deps","detachFinalizer","attachFinalizer","makeClassHandle","init_ClassHandle","ClassHandle","throwInstanceAlreadyDeleted","deletionQueue","flushPendingDeletes","delayFunction","RegisteredClass","shallowCopyInternalPointer","downcastPointer","upcastPointer","validateThis","char_0","char_9","makeLegalFunctionName","emval_freelist","emval_handles","emval_symbols","getStringOrSymbol","Emval","emval_get_global","emval_returnValue","emval_lookupTypes","emval_methodCallers","emval_addMethodCaller"];c_.forEach(Dt),t.incrementExceptionRefcount=s_,t.decrementExceptionRefcount=a_,t.getExceptionMessage=Qd;function u_(){Qe("fetchSettings")}var ef={679512:()=>{typeof t<"u"&&"mjDISABLESTRING mjENABLESTRING mjFRAMESTRING mjLABELSTRING mjRNDSTRING mjTIMERSTRING mjVISSTRING".split(" ").forEach(function(s){Object.defineProperty(t,s,{get:function(){return t["get_"+s]()},set:function(o){},enumerable:!0,configurable:!0})})}},tf=Ie("___getTypeName"),Eu=Ie("_malloc"),h_=Ie("___cxa_free_exception"),Tu=Ie("_fflush"),bi=Ie("_free"),Au=Ie("_emscripten_stack_get_end"),d_=Ie("_emscripten_stack_get_base"),nf=Ie("_strerror"),Le=Ie("_setThrew"),rf=Ie("__emscripten_tempret_set"),sf=Ie("_emscripten_stack_init"),f_=Ie("_emscripten_stack_get_free"),af=Ie("__emscripten_stack_restore"),of=Ie("__emscripten_stack_alloc"),lf=Ie("_emscripten_stack_get_current"),Ru=Ie("___cxa_decrement_exception_refcount"),Do=Ie("___cxa_increment_exception_refcount"),cf=Ie("___get_exception_message"),uf=Ie("___cxa_can_catch"),hf=Ie("___cxa_get_exception_ptr");function p_(s){tf=Ae("__getTypeName",1),Eu=Ae("malloc",1),h_=Ae("__cxa_free_exception",1),Tu=Ae("fflush",1),bi=Ae("free",1),Au=s.emscripten_stack_get_end,d_=s.emscripten_stack_get_base,nf=Ae("strerror",1),Le=Ae("setThrew",2),rf=Ae("_emscripten_tempret_set",1),sf=s.emscripten_stack_init,f_=s.emscripten_stack_get_free,af=s._emscripten_stack_restore,of=s._emscripten_stack_alloc,lf=s.emscripten_stack_get_current,Ru=Ae("__cxa_decrement_exception_refcount",1),Do=Ae("__cxa_increment_exception_refcount",1),cf=Ae("__get_exception_message",3),uf=Ae("__cxa_can_catch",3),hf=Ae("__cxa_get_exception_ptr",1)}var df={__assert_fail:Gi,__cxa_begin_catch:yi,__cxa_current_primary_exception:ns,__cxa_end_catch:Vi,__cxa_find_matching_catch_2:ia,__cxa_find_matching_catch_3:is,__cxa_find_matching_catch_4:rs,__cxa_rethrow:ur,__cxa_rethrow_primary_exception:I,__cxa_throw:j,__cxa_uncaught_exceptions:ce,__resumeException:se,__syscall_dup3:Cn,__syscall_fcntl64:jn,__syscall_fstat64:Lr,__syscall_ioctl:go,__syscall_lstat64:_o,__syscall_newfstatat:vo,__syscall_openat:tu,__syscall_stat64:yo,_abort_js:nu,_embind_register_bigint:Dr,_embind_register_bool:St,_embind_register_class:_u,_embind_register_class_class_function:z,_embind_register_class_constructor:Z,_embind_register_class_function:oe,_embind_register_class_property:st,_embind_register_constant:At,_embind_register_emval:Co,_embind_register_enum:bu,_embind_register_enum_value:Bg,_embind_register_float:zg,_embind_register_function:Gg,_embind_register_integer:Vg,_embind_register_memory_view:Hg,_embind_register_optional:$g,_embind_register_std_string:Xg,_embind_register_std_wstring:Qg,_embind_register_user_type:e0,_embind_register_void:t0,_emscripten_throw_longjmp:n0,_emval_as:i0,_emval_call:r0,_emval_call_method:a0,_emval_decref:zn,_emval_get_global:o0,_emval_get_method_caller:u0,_emval_get_property:h0,_emval_incref:d0,_emval_is_number:f0,_emval_is_string:p0,_emval_new_array:m0,_emval_new_cstring:g0,_emval_run_destructors:_0,_emval_take_value:v0,_emval_throw:y0,_localtime_js:E0,_mktime_js:T0,_tzset_js:A0,clock_time_get:P0,emscripten_asm_const_int:D0,emscripten_date_now:jd,emscripten_get_heap_max:F0,emscripten_get_now:qd,emscripten_resize_heap:O0,environ_get:k0,environ_sizes_get:z0,exit:H0,fd_close:W0,fd_read:X0,fd_seek:q0,fd_write:Y0,invoke_ddd:Gv,invoke_dddi:rv,invoke_dddidi:sv,invoke_ddidi:iv,invoke_di:av,invoke_dii:j_,invoke_diii:R_,invoke_diiii:nv,invoke_diiiidd:ev,invoke_diiiidi:I_,invoke_diiiii:w_,invoke_diiiiii:O_,invoke_diiiiiii:ov,invoke_diiiiiiiii:N_,invoke_diiiiiiiiiiii:U_,invoke_fiii:Kv,invoke_i:M_,invoke_id:Tv,invoke_ii:__,invoke_iid:_v,invoke_iidddd:Xv,invoke_iidiii:$_,invoke_iidiiid:H_,invoke_iidiiiiidi:X_,invoke_iif:$v,invoke_iii:m_,invoke_iiid:q_,invoke_iiididdddddd:W_,invoke_iiidiiiiiiii:V_,invoke_iiii:x_,invoke_iiiidddiiiii:cv,invoke_iiiii:A_,invoke_iiiiid:Rv,invoke_iiiiii:Sv,invoke_iiiiiii:yv,invoke_iiiiiiii:gv,invoke_iiiiiiiidd:Cv,invoke_iiiiiiiii:Q_,invoke_iiiiiiiiii:xv,invoke_iiiiiiiiiidddiiiiiiiii:G_,invoke_iiiiiiiiiii:Zv,invoke_iiiiiiiiiiii:Qv,invoke_iiiiiiiiiiiii:Fv,invoke_iiij:bv,invoke_iiji:Av,invoke_j:Yv,invoke_ji:kv,invoke_jiiii:wv,invoke_jij:zv,invoke_v:y_,invoke_vi:v_,invoke_vid:vv,invoke_viddd:Mv,invoke_vidddd:Ev,invoke_vidi:tv,invoke_vidiii:k_,invoke_vii:S_,invoke_viid:Z_,invoke_viiddi:Dv,invoke_viiddidi:Lv,invoke_viiddii:lv,invoke_viidi:J_,invoke_viidii:P_,invoke_viidiii:pv,invoke_viidiiid:dv,invoke_viidiiiii:z_,invoke_viidiiiiidi:mv,invoke_viidiiiiiiii:B_,invoke_viii:g_,invoke_viiid:D_,invoke_viiidd:Iv,invoke_viiidi:Y_,invoke_viiididdddddd:fv,invoke_viiidiiiiiiii:hv,invoke_viiii:T_,invoke_viiiiddd:Pv,invoke_viiiidi:Vv,invoke_viiiifi:Hv,invoke_viiiii:b_,invoke_viiiiid:L_,invoke_viiiiii:E_,invoke_viiiiiii:C_,invoke_viiiiiiii:K_,invoke_viiiiiiiiii:Ov,invoke_viiiiiiiiiidddiiiiiiiii:uv,invoke_viiiiiiiiiiid:F_,invoke_viiiiiiiiiiiii:Uv,invoke_viiiiiiiiiiiiiii:ey,invoke_viiiiiiiiiiiiiiiiii:Bv,invoke_viiiij:qv,invoke_viij:jv,invoke_viijii:Jv,invoke_vij:Wv,invoke_vijjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj:Nv,llvm_eh_typeid_for:J0},Ur=await De();function m_(s,o,u){var f=Me();try{return Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function g_(s,o,u,f){var _=Me();try{Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function __(s,o){var u=Me();try{return Pe(s)(o)}catch(f){if(Ee(u),!(f instanceof $))throw f;Le(1,0)}}function v_(s,o){var u=Me();try{Pe(s)(o)}catch(f){if(Ee(u),!(f instanceof $))throw f;Le(1,0)}}function y_(s){var o=Me();try{Pe(s)()}catch(u){if(Ee(o),!(u instanceof $))throw u;Le(1,0)}}function x_(s,o,u,f){var _=Me();try{return Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function b_(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function S_(s,o,u){var f=Me();try{Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function w_(s,o,u,f,_,S){var T=Me();try{return Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function M_(s){var o=Me();try{return Pe(s)()}catch(u){if(Ee(o),!(u instanceof $))throw u;Le(1,0)}}function E_(s,o,u,f,_,S,T){var P=Me();try{Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function T_(s,o,u,f,_){var S=Me();try{Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;Le(1,0)}}function A_(s,o,u,f,_){var S=Me();try{return Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;Le(1,0)}}function R_(s,o,u,f){var _=Me();try{return Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function C_(s,o,u,f,_,S,T,P){var B=Me();try{Pe(s)(o,u,f,_,S,T,P)}catch(Q){if(Ee(B),!(Q instanceof $))throw Q;Le(1,0)}}function P_(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function I_(s,o,u,f,_,S,T){var P=Me();try{return Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function L_(s,o,u,f,_,S,T){var P=Me();try{Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function D_(s,o,u,f,_){var S=Me();try{Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;Le(1,0)}}function F_(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe){var _e=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe)}catch(Te){if(Ee(_e),!(Te instanceof $))throw Te;Le(1,0)}}function N_(s,o,u,f,_,S,T,P,B,Q){var ae=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q)}catch(pe){if(Ee(ae),!(pe instanceof $))throw pe;Le(1,0)}}function U_(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe){var _e=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe)}catch(Te){if(Ee(_e),!(Te instanceof $))throw Te;Le(1,0)}}function O_(s,o,u,f,_,S,T){var P=Me();try{return Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function B_(s,o,u,f,_,S,T,P,B,Q,ae,pe){var xe=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe)}catch(_e){if(Ee(xe),!(_e instanceof $))throw _e;Le(1,0)}}function k_(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function z_(s,o,u,f,_,S,T,P,B){var Q=Me();try{Pe(s)(o,u,f,_,S,T,P,B)}catch(ae){if(Ee(Q),!(ae instanceof $))throw ae;Le(1,0)}}function G_(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln,Gt,Ln,Sn){var Gn=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln,Gt,Ln,Sn)}catch(tn){if(Ee(Gn),!(tn instanceof $))throw tn;Le(1,0)}}function V_(s,o,u,f,_,S,T,P,B,Q,ae,pe){var xe=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe)}catch(_e){if(Ee(xe),!(_e instanceof $))throw _e;Le(1,0)}}function H_(s,o,u,f,_,S,T){var P=Me();try{return Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function W_(s,o,u,f,_,S,T,P,B,Q,ae,pe){var xe=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe)}catch(_e){if(Ee(xe),!(_e instanceof $))throw _e;Le(1,0)}}function $_(s,o,u,f,_,S){var T=Me();try{return Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function X_(s,o,u,f,_,S,T,P,B,Q){var ae=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q)}catch(pe){if(Ee(ae),!(pe instanceof $))throw pe;Le(1,0)}}function q_(s,o,u,f){var _=Me();try{return Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function j_(s,o,u){var f=Me();try{return Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function Y_(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function J_(s,o,u,f,_){var S=Me();try{Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;Le(1,0)}}function Z_(s,o,u,f){var _=Me();try{Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function K_(s,o,u,f,_,S,T,P,B){var Q=Me();try{Pe(s)(o,u,f,_,S,T,P,B)}catch(ae){if(Ee(Q),!(ae instanceof $))throw ae;Le(1,0)}}function Q_(s,o,u,f,_,S,T,P,B){var Q=Me();try{return Pe(s)(o,u,f,_,S,T,P,B)}catch(ae){if(Ee(Q),!(ae instanceof $))throw ae;Le(1,0)}}function ev(s,o,u,f,_,S,T){var P=Me();try{return Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function tv(s,o,u,f){var _=Me();try{Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function nv(s,o,u,f,_){var S=Me();try{return Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;Le(1,0)}}function iv(s,o,u,f,_){var S=Me();try{return Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;Le(1,0)}}function rv(s,o,u,f){var _=Me();try{return Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function sv(s,o,u,f,_,S){var T=Me();try{return Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function av(s,o){var u=Me();try{return Pe(s)(o)}catch(f){if(Ee(u),!(f instanceof $))throw f;Le(1,0)}}function ov(s,o,u,f,_,S,T,P){var B=Me();try{return Pe(s)(o,u,f,_,S,T,P)}catch(Q){if(Ee(B),!(Q instanceof $))throw Q;Le(1,0)}}function lv(s,o,u,f,_,S,T){var P=Me();try{Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function cv(s,o,u,f,_,S,T,P,B,Q,ae,pe){var xe=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe)}catch(_e){if(Ee(xe),!(_e instanceof $))throw _e;Le(1,0)}}function uv(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln,Gt,Ln,Sn,Gn){var tn=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln,Gt,Ln,Sn,Gn)}catch(Or){if(Ee(tn),!(Or instanceof $))throw Or;Le(1,0)}}function hv(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe){var _e=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe)}catch(Te){if(Ee(_e),!(Te instanceof $))throw Te;Le(1,0)}}function dv(s,o,u,f,_,S,T,P){var B=Me();try{Pe(s)(o,u,f,_,S,T,P)}catch(Q){if(Ee(B),!(Q instanceof $))throw Q;Le(1,0)}}function fv(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe){var _e=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe)}catch(Te){if(Ee(_e),!(Te instanceof $))throw Te;Le(1,0)}}function pv(s,o,u,f,_,S,T){var P=Me();try{Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function mv(s,o,u,f,_,S,T,P,B,Q,ae){var pe=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae)}catch(xe){if(Ee(pe),!(xe instanceof $))throw xe;Le(1,0)}}function gv(s,o,u,f,_,S,T,P){var B=Me();try{return Pe(s)(o,u,f,_,S,T,P)}catch(Q){if(Ee(B),!(Q instanceof $))throw Q;Le(1,0)}}function _v(s,o,u){var f=Me();try{return Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function vv(s,o,u){var f=Me();try{Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function yv(s,o,u,f,_,S,T){var P=Me();try{return Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function xv(s,o,u,f,_,S,T,P,B,Q){var ae=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q)}catch(pe){if(Ee(ae),!(pe instanceof $))throw pe;Le(1,0)}}function bv(s,o,u,f){var _=Me();try{return Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function Sv(s,o,u,f,_,S){var T=Me();try{return Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function wv(s,o,u,f,_){var S=Me();try{return Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;return Le(1,0),0n}}function Mv(s,o,u,f,_){var S=Me();try{Pe(s)(o,u,f,_)}catch(T){if(Ee(S),!(T instanceof $))throw T;Le(1,0)}}function Ev(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function Tv(s,o){var u=Me();try{return Pe(s)(o)}catch(f){if(Ee(u),!(f instanceof $))throw f;Le(1,0)}}function Av(s,o,u,f){var _=Me();try{return Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function Rv(s,o,u,f,_,S){var T=Me();try{return Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function Cv(s,o,u,f,_,S,T,P,B,Q){var ae=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q)}catch(pe){if(Ee(ae),!(pe instanceof $))throw pe;Le(1,0)}}function Pv(s,o,u,f,_,S,T,P){var B=Me();try{Pe(s)(o,u,f,_,S,T,P)}catch(Q){if(Ee(B),!(Q instanceof $))throw Q;Le(1,0)}}function Iv(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function Lv(s,o,u,f,_,S,T,P){var B=Me();try{Pe(s)(o,u,f,_,S,T,P)}catch(Q){if(Ee(B),!(Q instanceof $))throw Q;Le(1,0)}}function Dv(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function Fv(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe){var _e=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe)}catch(Te){if(Ee(_e),!(Te instanceof $))throw Te;Le(1,0)}}function Nv(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln,Gt,Ln,Sn,Gn,tn,Or,ry,sy,ay,oy,ly,cy,uy,hy,dy,fy,py,my,gy,_y,vy,yy,xy,by,Sy,wy,My,Ey,Ty,Ay,Ry,Cy,Py,Iy,Ly,Dy,Fy,Ny,Uy,Oy,By,ky,zy,Gy,Vy,Hy,Wy,$y,Xy,qy,jy,Yy,Jy,Zy,Ky,Qy,ex,tx,nx,ix,rx,sx,ax,ox,lx,cx,ux){var hx=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln,Gt,Ln,Sn,Gn,tn,Or,ry,sy,ay,oy,ly,cy,uy,hy,dy,fy,py,my,gy,_y,vy,yy,xy,by,Sy,wy,My,Ey,Ty,Ay,Ry,Cy,Py,Iy,Ly,Dy,Fy,Ny,Uy,Oy,By,ky,zy,Gy,Vy,Hy,Wy,$y,Xy,qy,jy,Yy,Jy,Zy,Ky,Qy,ex,tx,nx,ix,rx,sx,ax,ox,lx,cx,ux)}catch(pf){if(Ee(hx),!(pf instanceof $))throw pf;Le(1,0)}}function Uv(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e){var Te=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e)}catch(ut){if(Ee(Te),!(ut instanceof $))throw ut;Le(1,0)}}function Ov(s,o,u,f,_,S,T,P,B,Q,ae){var pe=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae)}catch(xe){if(Ee(pe),!(xe instanceof $))throw xe;Le(1,0)}}function Bv(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln){var Gt=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut,Nt,Rt,ln)}catch(Ln){if(Ee(Gt),!(Ln instanceof $))throw Ln;Le(1,0)}}function kv(s,o){var u=Me();try{return Pe(s)(o)}catch(f){if(Ee(u),!(f instanceof $))throw f;return Le(1,0),0n}}function zv(s,o,u){var f=Me();try{return Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;return Le(1,0),0n}}function Gv(s,o,u){var f=Me();try{return Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function Vv(s,o,u,f,_,S,T){var P=Me();try{Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function Hv(s,o,u,f,_,S,T){var P=Me();try{Pe(s)(o,u,f,_,S,T)}catch(B){if(Ee(P),!(B instanceof $))throw B;Le(1,0)}}function Wv(s,o,u){var f=Me();try{Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function $v(s,o,u){var f=Me();try{return Pe(s)(o,u)}catch(_){if(Ee(f),!(_ instanceof $))throw _;Le(1,0)}}function Xv(s,o,u,f,_,S){var T=Me();try{return Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function qv(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function jv(s,o,u,f){var _=Me();try{Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function Yv(s){var o=Me();try{return Pe(s)()}catch(u){if(Ee(o),!(u instanceof $))throw u;return Le(1,0),0n}}function Jv(s,o,u,f,_,S){var T=Me();try{Pe(s)(o,u,f,_,S)}catch(P){if(Ee(T),!(P instanceof $))throw P;Le(1,0)}}function Zv(s,o,u,f,_,S,T,P,B,Q,ae){var pe=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae)}catch(xe){if(Ee(pe),!(xe instanceof $))throw xe;Le(1,0)}}function Kv(s,o,u,f){var _=Me();try{return Pe(s)(o,u,f)}catch(S){if(Ee(_),!(S instanceof $))throw S;Le(1,0)}}function Qv(s,o,u,f,_,S,T,P,B,Q,ae,pe){var xe=Me();try{return Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe)}catch(_e){if(Ee(xe),!(_e instanceof $))throw _e;Le(1,0)}}function ey(s,o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut){var Nt=Me();try{Pe(s)(o,u,f,_,S,T,P,B,Q,ae,pe,xe,_e,Te,ut)}catch(Rt){if(Ee(Nt),!(Rt instanceof $))throw Rt;Le(1,0)}}var ff;function ty(){sf(),be()}function Cu(){if(lt>0){O=Cu;return}if(ty(),Ge(),lt>0){O=Cu;return}function s(){H(!ff),ff=!0,t.calledRun=!0,!X&&(pn(),Bt?.(t),t.onRuntimeInitialized?.(),He("onRuntimeInitialized"),H(!t._main,'compiled without a main, but one is present. if you added it from JS, use Module["onRuntimeInitialized"]'),it())}t.setStatus?(t.setStatus("Running..."),setTimeout(()=>{setTimeout(()=>t.setStatus(""),1),s()},1)):s(),ue()}function ny(){var s=U,o=F,u=!1;U=F=f=>{u=!0};try{Tu(0),["stdout","stderr"].forEach(f=>{var _=M.analyzePath("/dev/"+f);if(_){var S=_.object,T=S.rdev,P=ft.ttys[T];P?.output?.length&&(u=!0)}})}catch{}U=s,F=o,u&&Zn("stdio streams had content in them that was not flushed. you should set EXIT_RUNTIME to 1 (see the Emscripten FAQ), or make sure to emit a newline when you printf etc.")}function iy(){if(t.preInit)for(typeof t.preInit=="function"&&(t.preInit=[t.preInit]);t.preInit.length>0;)t.preInit.shift()();He("preInit")}iy(),Cu(),$t?e=t:e=new Promise((s,o)=>{Bt=s,bt=o});for(let s of Object.keys(t))s in i||Object.defineProperty(i,s,{configurable:!0,get(){Se(`Access to module property ('${s}') is no longer possible via the module constructor argument; Instead, use the result of the module constructor.`)}});return e}),bm=bT;var vd=Object.defineProperty,ST=Object.getOwnPropertyDescriptor,wT=Object.getOwnPropertyNames,MT=Object.prototype.hasOwnProperty,ET=(i=>typeof pr<"u"?pr:typeof Proxy<"u"?new Proxy(i,{get:(e,t)=>(typeof pr<"u"?pr:e)[t]}):i)(function(i){if(typeof pr<"u")return pr.apply(this,arguments);throw Error('Dynamic require of "'+i+'" is not supported')}),Vt=(i,e,t)=>()=>{if(t)throw t[0];try{return i&&(e=i(i=0)),e}catch(n){throw t=[n],n}},Hc=(i,e)=>{for(var t in e)vd(i,t,{get:e[t],enumerable:!0})},TT=(i,e,t,n)=>{if(e&&typeof e=="object"||typeof e=="function")for(let r of wT(e))!MT.call(i,r)&&r!==t&&vd(i,r,{get:()=>e[r],enumerable:!(n=ST(e,r))||n.enumerable});return i},fd=i=>TT(vd({},"__esModule",{value:!0}),i),lo,Pr,zc,Sm,zm,Gm=Vt(()=>{"use strict";lo=new Map,Pr=[],zc=(i,e,t)=>{if(e&&typeof e.init=="function"&&typeof e.createInferenceSessionHandler=="function"){let n=lo.get(i);if(n===void 0)lo.set(i,{backend:e,priority:t});else{if(n.priority>t)return;if(n.priority===t&&n.backend!==e)throw new Error(`cannot register backend "${i}" using priority ${t}`)}if(t>=0){let r=Pr.indexOf(i);r!==-1&&Pr.splice(r,1);for(let a=0;a<Pr.length;a++)if(lo.get(Pr[a]).priority<=t){Pr.splice(a,0,i);return}Pr.push(i)}return}throw new TypeError("not a valid backend")},Sm=async i=>{let e=lo.get(i);if(!e)return"backend not found.";if(e.initialized)return e.backend;if(e.aborted)return e.error;{let t=!!e.initPromise;try{return t||(e.initPromise=e.backend.init(i)),await e.initPromise,e.initialized=!0,e.backend}catch(n){return t||(e.error=`${n}`,e.aborted=!0),e.error}finally{delete e.initPromise}}},zm=async i=>{let e=i.executionProviders||[],t=e.map(h=>typeof h=="string"?h:h.name),n=t.length===0?Pr:t,r,a=[],l=new Set;for(let h of n){let d=await Sm(h);typeof d=="string"?a.push({name:h,err:d}):(r||(r=d),r===d&&l.add(h))}if(!r)throw new Error(`no available backend found. ERR: ${a.map(h=>`[${h.name}] ${h.err}`).join(", ")}`);for(let{name:h,err:d}of a)t.includes(h)&&console.warn(`removing requested execution provider "${h}" from session options because it is not available: ${d}`);let c=e.filter(h=>l.has(typeof h=="string"?h:h.name));return[r,new Proxy(i,{get:(h,d)=>d==="executionProviders"?c:Reflect.get(h,d)})]}}),AT=Vt(()=>{"use strict";Gm()}),Vm,RT=Vt(()=>{"use strict";Vm="1.30.0"}),Kh,Rn,Hm=Vt(()=>{"use strict";RT(),Kh="warning",Rn={wasm:{},webgl:{},webgpu:{},versions:{common:Vm},set logLevel(i){if(i!==void 0){if(typeof i!="string"||["verbose","info","warning","error","fatal"].indexOf(i)===-1)throw new Error(`Unsupported logging level: ${i}`);Kh=i}},get logLevel(){return Kh}},Object.defineProperty(Rn,"logLevel",{enumerable:!0})}),an,CT=Vt(()=>{"use strict";Hm(),an=Rn}),Wm,$m,PT=Vt(()=>{"use strict";Wm=(i,e)=>{let t=typeof document<"u"?document.createElement("canvas"):new OffscreenCanvas(1,1);t.width=i.dims[3],t.height=i.dims[2];let n=t.getContext("2d");if(n!=null){let r,a;e?.tensorLayout!==void 0&&e.tensorLayout==="NHWC"?(r=i.dims[2],a=i.dims[3]):(r=i.dims[3],a=i.dims[2]);let l=e?.format!==void 0?e.format:"RGB",c=e?.norm,h,d;c===void 0||c.mean===void 0?h=[255,255,255,255]:typeof c.mean=="number"?h=[c.mean,c.mean,c.mean,c.mean]:(h=[c.mean[0],c.mean[1],c.mean[2],0],c.mean[3]!==void 0&&(h[3]=c.mean[3])),c===void 0||c.bias===void 0?d=[0,0,0,0]:typeof c.bias=="number"?d=[c.bias,c.bias,c.bias,c.bias]:(d=[c.bias[0],c.bias[1],c.bias[2],0],c.bias[3]!==void 0&&(d[3]=c.bias[3]));let p=a*r,m=0,g=p,v=p*2,w=-1;l==="RGBA"?(m=0,g=p,v=p*2,w=p*3):l==="RGB"?(m=0,g=p,v=p*2):l==="RBG"&&(m=0,v=p,g=p*2);for(let C=0;C<a;C++)for(let b=0;b<r;b++){let y=(i.data[m++]-d[0])*h[0],D=(i.data[g++]-d[1])*h[1],U=(i.data[v++]-d[2])*h[2],F=w===-1?255:(i.data[w++]-d[3])*h[3];n.fillStyle="rgba("+y+","+D+","+U+","+F+")",n.fillRect(b,C,1,1)}if("toDataURL"in t)return t.toDataURL();throw new Error("toDataURL is not supported")}else throw new Error("Can not access image data")},$m=(i,e)=>{let t=typeof document<"u"?document.createElement("canvas").getContext("2d"):new OffscreenCanvas(1,1).getContext("2d"),n;if(t!=null){let r,a,l;e?.tensorLayout!==void 0&&e.tensorLayout==="NHWC"?(r=i.dims[2],a=i.dims[1],l=i.dims[3]):(r=i.dims[3],a=i.dims[2],l=i.dims[1]);let c=e!==void 0&&e.format!==void 0?e.format:"RGB",h=e?.norm,d,p;h===void 0||h.mean===void 0?d=[255,255,255,255]:typeof h.mean=="number"?d=[h.mean,h.mean,h.mean,h.mean]:(d=[h.mean[0],h.mean[1],h.mean[2],255],h.mean[3]!==void 0&&(d[3]=h.mean[3])),h===void 0||h.bias===void 0?p=[0,0,0,0]:typeof h.bias=="number"?p=[h.bias,h.bias,h.bias,h.bias]:(p=[h.bias[0],h.bias[1],h.bias[2],0],h.bias[3]!==void 0&&(p[3]=h.bias[3]));let m=a*r;if(e!==void 0&&(e.format!==void 0&&l===4&&e.format!=="RGBA"||l===3&&e.format!=="RGB"&&e.format!=="BGR"))throw new Error("Tensor format doesn't match input tensor dims");let g=4,v=0,w=1,C=2,b=3,y=0,D=m,U=m*2,F=-1;c==="RGBA"?(y=0,D=m,U=m*2,F=m*3):c==="RGB"?(y=0,D=m,U=m*2):c==="RBG"&&(y=0,U=m,D=m*2),n=t.createImageData(r,a);for(let k=0;k<a*r;v+=g,w+=g,C+=g,b+=g,k++)n.data[v]=(i.data[y++]-p[0])*d[0],n.data[w]=(i.data[D++]-p[1])*d[1],n.data[C]=(i.data[U++]-p[2])*d[2],n.data[b]=F===-1?255:(i.data[F++]-p[3])*d[3]}else throw new Error("Can not access image data");return n}}),Fc,Xm,qm,jm,Ym,Jm,IT=Vt(()=>{"use strict";yd(),Fc=(i,e)=>{if(i===void 0)throw new Error("Image buffer must be defined");if(e.height===void 0||e.width===void 0)throw new Error("Image height and width must be defined");if(e.tensorLayout==="NHWC")throw new Error("NHWC Tensor layout is not supported yet");let{height:t,width:n}=e,r=e.norm??{mean:255,bias:0},a,l;typeof r.mean=="number"?a=[r.mean,r.mean,r.mean,r.mean]:a=[r.mean[0],r.mean[1],r.mean[2],r.mean[3]??255],typeof r.bias=="number"?l=[r.bias,r.bias,r.bias,r.bias]:l=[r.bias[0],r.bias[1],r.bias[2],r.bias[3]??0];let c=e.format!==void 0?e.format:"RGBA",h=e.tensorFormat!==void 0&&e.tensorFormat!==void 0?e.tensorFormat:"RGB",d=t*n,p=h==="RGBA"?new Float32Array(d*4):new Float32Array(d*3),m=4,g=0,v=1,w=2,C=3,b=0,y=d,D=d*2,U=-1;c==="RGB"&&(m=3,g=0,v=1,w=2,C=-1),h==="RGBA"?U=d*3:h==="RBG"?(b=0,D=d,y=d*2):h==="BGR"&&(D=0,y=d,b=d*2);for(let F=0;F<d;F++,g+=m,w+=m,v+=m,C+=m)p[b++]=(i[g]+l[0])/a[0],p[y++]=(i[v]+l[1])/a[1],p[D++]=(i[w]+l[2])/a[2],U!==-1&&C!==-1&&(p[U++]=(i[C]+l[3])/a[3]);return h==="RGBA"?new ai("float32",p,[1,4,t,n]):new ai("float32",p,[1,3,t,n])},Xm=async(i,e)=>{let t=typeof HTMLImageElement<"u"&&i instanceof HTMLImageElement,n=typeof ImageData<"u"&&i instanceof ImageData,r=typeof ImageBitmap<"u"&&i instanceof ImageBitmap,a=typeof i=="string",l,c=e??{},h=()=>{if(typeof document<"u")return document.createElement("canvas");if(typeof OffscreenCanvas<"u")return new OffscreenCanvas(1,1);throw new Error("Canvas is not supported")},d=p=>typeof HTMLCanvasElement<"u"&&p instanceof HTMLCanvasElement||p instanceof OffscreenCanvas?p.getContext("2d"):null;if(t){let p=h();p.width=i.width,p.height=i.height;let m=d(p);if(m!=null){let g=i.height,v=i.width;if(e!==void 0&&e.resizedHeight!==void 0&&e.resizedWidth!==void 0&&(g=e.resizedHeight,v=e.resizedWidth),e!==void 0){if(c=e,e.tensorFormat!==void 0)throw new Error("Image input config format must be RGBA for HTMLImageElement");c.tensorFormat="RGBA",c.height=g,c.width=v}else c.tensorFormat="RGBA",c.height=g,c.width=v;m.drawImage(i,0,0),l=m.getImageData(0,0,v,g).data}else throw new Error("Can not access image data")}else if(n){let p,m;if(e!==void 0&&e.resizedWidth!==void 0&&e.resizedHeight!==void 0?(p=e.resizedHeight,m=e.resizedWidth):(p=i.height,m=i.width),e!==void 0&&(c=e),c.format="RGBA",c.height=p,c.width=m,e!==void 0){let g=h();g.width=m,g.height=p;let v=d(g);if(v!=null)v.putImageData(i,0,0),l=v.getImageData(0,0,m,p).data;else throw new Error("Can not access image data")}else l=i.data}else if(r){if(e===void 0)throw new Error("Please provide image config with format for Imagebitmap");let p=h();p.width=i.width,p.height=i.height;let m=d(p);if(m!=null){let g=i.height,v=i.width;return m.drawImage(i,0,0,v,g),l=m.getImageData(0,0,v,g).data,c.height=g,c.width=v,Fc(l,c)}else throw new Error("Can not access image data")}else{if(a)return new Promise((p,m)=>{let g=h(),v=d(g);if(!i||!v)return m();let w=new Image;w.crossOrigin="Anonymous",w.src=i,w.onload=()=>{g.width=w.width,g.height=w.height,v.drawImage(w,0,0,g.width,g.height);let C=v.getImageData(0,0,g.width,g.height);c.height=g.height,c.width=g.width,p(Fc(C.data,c))}});throw new Error("Input data provided is not supported - aborted tensor creation")}if(l!==void 0)return Fc(l,c);throw new Error("Input data provided is not supported - aborted tensor creation")},qm=(i,e)=>{let{width:t,height:n,download:r,dispose:a}=e,l=[1,n,t,4];return new ai({location:"texture",type:"float32",texture:i,dims:l,download:r,dispose:a})},jm=(i,e)=>{let{dataType:t,dims:n,download:r,dispose:a}=e;return new ai({location:"gpu-buffer",type:t??"float32",gpuBuffer:i,dims:n,download:r,dispose:a})},Ym=(i,e)=>{let{dataType:t,dims:n,download:r,dispose:a}=e;return new ai({location:"ml-tensor",type:t??"float32",mlTensor:i,dims:n,download:r,dispose:a})},Jm=(i,e,t)=>new ai({location:"cpu-pinned",type:i,data:e,dims:t??[e.length]})}),es,fo,Qh,Zm,LT=Vt(()=>{"use strict";es=new Map([["float32",Float32Array],["uint8",Uint8Array],["int8",Int8Array],["uint16",Uint16Array],["int16",Int16Array],["int32",Int32Array],["bool",Uint8Array],["float64",Float64Array],["uint32",Uint32Array],["int4",Uint8Array],["uint4",Uint8Array]]),fo=new Map([[Float32Array,"float32"],[Uint8Array,"uint8"],[Int8Array,"int8"],[Uint16Array,"uint16"],[Int16Array,"int16"],[Int32Array,"int32"],[Float64Array,"float64"],[Uint32Array,"uint32"]]),Qh=!1,Zm=()=>{if(!Qh){Qh=!0;let i=typeof BigInt64Array<"u"&&BigInt64Array.from,e=typeof BigUint64Array<"u"&&BigUint64Array.from,t=globalThis.Float16Array,n=typeof t<"u"&&t.from;i&&(es.set("int64",BigInt64Array),fo.set(BigInt64Array,"int64")),e&&(es.set("uint64",BigUint64Array),fo.set(BigUint64Array,"uint64")),n?(es.set("float16",t),fo.set(t,"float16")):es.set("float16",Uint16Array)}}}),Km,Qm,DT=Vt(()=>{"use strict";yd(),Km=i=>{let e=1;for(let t=0;t<i.length;t++){let n=i[t];if(typeof n!="number"||!Number.isSafeInteger(n))throw new TypeError(`dims[${t}] must be an integer, got: ${n}`);if(n<0)throw new RangeError(`dims[${t}] must be a non-negative integer, got: ${n}`);e*=n}return e},Qm=(i,e)=>{switch(i.location){case"cpu":return new ai(i.type,i.data,e);case"cpu-pinned":return new ai({location:"cpu-pinned",data:i.data,type:i.type,dims:e});case"texture":return new ai({location:"texture",texture:i.texture,type:i.type,dims:e});case"gpu-buffer":return new ai({location:"gpu-buffer",gpuBuffer:i.gpuBuffer,type:i.type,dims:e});case"ml-tensor":return new ai({location:"ml-tensor",mlTensor:i.mlTensor,type:i.type,dims:e});default:throw new Error(`tensorReshape: tensor location ${i.location} is not supported`)}}}),ai,yd=Vt(()=>{"use strict";PT(),IT(),LT(),DT(),ai=class{constructor(i,e,t){Zm();let n,r;if(typeof i=="object"&&"location"in i)switch(this.dataLocation=i.location,n=i.type,r=i.dims,i.location){case"cpu-pinned":{let l=es.get(n);if(!l)throw new TypeError(`unsupported type "${n}" to create tensor from pinned buffer`);if(!(i.data instanceof l))throw new TypeError(`buffer should be of type ${l.name}`);this.cpuData=i.data;break}case"texture":{if(n!=="float32")throw new TypeError(`unsupported type "${n}" to create tensor from texture`);this.gpuTextureData=i.texture,this.downloader=i.download,this.disposer=i.dispose;break}case"gpu-buffer":{if(n!=="float32"&&n!=="float16"&&n!=="int32"&&n!=="int64"&&n!=="uint32"&&n!=="uint8"&&n!=="bool"&&n!=="uint4"&&n!=="int4")throw new TypeError(`unsupported type "${n}" to create tensor from gpu buffer`);this.gpuBufferData=i.gpuBuffer,this.downloader=i.download,this.disposer=i.dispose;break}case"ml-tensor":{if(n!=="float32"&&n!=="float16"&&n!=="int32"&&n!=="int64"&&n!=="uint32"&&n!=="uint64"&&n!=="int8"&&n!=="uint8"&&n!=="bool"&&n!=="uint4"&&n!=="int4")throw new TypeError(`unsupported type "${n}" to create tensor from MLTensor`);this.mlTensorData=i.mlTensor,this.downloader=i.download,this.disposer=i.dispose;break}default:throw new Error(`Tensor constructor: unsupported location '${this.dataLocation}'`)}else{let l,c;if(typeof i=="string")if(n=i,c=t,i==="string"){if(!Array.isArray(e))throw new TypeError("A string tensor's data must be a string array.");l=e}else{let h=es.get(i);if(h===void 0)throw new TypeError(`Unsupported tensor type: ${i}.`);if(Array.isArray(e)){if(i==="float16"&&h===Uint16Array||i==="uint4"||i==="int4")throw new TypeError(`Creating a ${i} tensor from number array is not supported. Please use ${h.name} as data.`);i==="uint64"||i==="int64"?l=h.from(e,BigInt):l=h.from(e)}else if(e instanceof h)l=e;else if(e instanceof Uint8ClampedArray)if(i==="uint8")l=Uint8Array.from(e);else throw new TypeError("A Uint8ClampedArray tensor's data must be type of uint8");else if(i==="float16"&&e instanceof Uint16Array&&h!==Uint16Array)l=new globalThis.Float16Array(e.buffer,e.byteOffset,e.length);else throw new TypeError(`A ${n} tensor's data must be type of ${h}`)}else if(c=e,Array.isArray(i)){if(i.length===0)throw new TypeError("Tensor type cannot be inferred from an empty array.");let h=typeof i[0];if(h==="string")n="string",l=i;else if(h==="boolean")n="bool",l=Uint8Array.from(i);else throw new TypeError(`Invalid element type of data array: ${h}.`)}else if(i instanceof Uint8ClampedArray)n="uint8",l=Uint8Array.from(i);else{let h=fo.get(i.constructor);if(h===void 0)throw new TypeError(`Unsupported type for tensor data: ${i.constructor}.`);n=h,l=i}if(c===void 0)c=[l.length];else if(!Array.isArray(c))throw new TypeError("A tensor's dims must be a number array");r=c,this.cpuData=l,this.dataLocation="cpu"}let a=Km(r);if(this.cpuData&&a!==this.cpuData.length&&!((n==="uint4"||n==="int4")&&Math.ceil(a/2)===this.cpuData.length))throw new Error(`Tensor's size(${a}) does not match data length(${this.cpuData.length}).`);this.type=n,this.dims=r,this.size=a}static async fromImage(i,e){return Xm(i,e)}static fromTexture(i,e){return qm(i,e)}static fromGpuBuffer(i,e){return jm(i,e)}static fromMLTensor(i,e){return Ym(i,e)}static fromPinnedBuffer(i,e,t){return Jm(i,e,t)}toDataURL(i){return Wm(this,i)}toImageData(i){return $m(this,i)}get data(){if(this.ensureValid(),!this.cpuData)throw new Error("The data is not on CPU. Use `getData()` to download GPU data to CPU, or use `texture` or `gpuBuffer` property to access the GPU data directly.");return this.cpuData}get location(){return this.dataLocation}get texture(){if(this.ensureValid(),!this.gpuTextureData)throw new Error("The data is not stored as a WebGL texture.");return this.gpuTextureData}get gpuBuffer(){if(this.ensureValid(),!this.gpuBufferData)throw new Error("The data is not stored as a WebGPU buffer.");return this.gpuBufferData}get mlTensor(){if(this.ensureValid(),!this.mlTensorData)throw new Error("The data is not stored as a WebNN MLTensor.");return this.mlTensorData}async getData(i){switch(this.ensureValid(),this.dataLocation){case"cpu":case"cpu-pinned":return this.data;case"texture":case"gpu-buffer":case"ml-tensor":{if(!this.downloader)throw new Error("The current tensor is not created with a specified data downloader.");if(this.isDownloading)throw new Error("The current tensor is being downloaded.");try{this.isDownloading=!0;let e=await this.downloader();return this.downloader=void 0,this.dataLocation="cpu",this.cpuData=e,i&&this.disposer&&(this.disposer(),this.disposer=void 0),e}finally{this.isDownloading=!1}}default:throw new Error(`cannot get data from location: ${this.dataLocation}`)}}dispose(){if(this.isDownloading)throw new Error("The current tensor is being downloaded.");this.disposer&&(this.disposer(),this.disposer=void 0),this.cpuData=void 0,this.gpuTextureData=void 0,this.gpuBufferData=void 0,this.mlTensorData=void 0,this.downloader=void 0,this.isDownloading=void 0,this.dataLocation="none"}ensureValid(){if(this.dataLocation==="none")throw new Error("The tensor is disposed.")}reshape(i){if(this.ensureValid(),this.downloader||this.disposer)throw new Error("Cannot reshape a tensor that owns GPU resource.");return Qm(this,i)}}}),oi,eg=Vt(()=>{"use strict";yd(),oi=ai}),pd,ed,Ks,Qs,ea,ta,tg=Vt(()=>{"use strict";Hm(),pd=(i,e)=>{(typeof Rn.trace>"u"?!Rn.wasm.trace:!Rn.trace)||console.timeStamp(`${i}::ORT::${e}`)},ed=(i,e)=>{let t=new Error().stack?.split(/\r\n|\r|\n/g)||[],n=!1;for(let r=0;r<t.length;r++){if(n&&!t[r].includes("TRACE_FUNC")){let a=`FUNC_${i}::${t[r].trim().split(" ")[1]}`;e&&(a+=`::${e}`),pd("CPU",a);return}t[r].includes("TRACE_FUNC")&&(n=!0)}},Ks=i=>{(typeof Rn.trace>"u"?!Rn.wasm.trace:!Rn.trace)||ed("BEGIN",i)},Qs=i=>{(typeof Rn.trace>"u"?!Rn.wasm.trace:!Rn.trace)||ed("END",i)},ea=i=>{(typeof Rn.trace>"u"?!Rn.wasm.trace:!Rn.trace)||console.time(`ORT::${i}`)},ta=i=>{(typeof Rn.trace>"u"?!Rn.wasm.trace:!Rn.trace)||console.timeEnd(`ORT::${i}`)}}),ng,FT=Vt(()=>{"use strict";Gm(),eg(),tg(),ng=class ig{constructor(e){this.handler=e}async run(e,t,n){Ks(),ea("InferenceSession.run");let r={},a={};if(typeof e!="object"||e===null||e instanceof oi||Array.isArray(e))throw new TypeError("'feeds' must be an object that use input names as keys and OnnxValue as corresponding values.");let l=!0;if(typeof t=="object"){if(t===null)throw new TypeError("Unexpected argument[1]: cannot be null.");if(t instanceof oi)throw new TypeError("'fetches' cannot be a Tensor");if(Array.isArray(t)){if(t.length===0)throw new TypeError("'fetches' cannot be an empty array.");l=!1;for(let d of t){if(typeof d!="string")throw new TypeError("'fetches' must be a string array or an object.");if(this.outputNames.indexOf(d)===-1)throw new RangeError(`'fetches' contains invalid output name: ${d}.`);r[d]=null}if(typeof n=="object"&&n!==null)a=n;else if(typeof n<"u")throw new TypeError("'options' must be an object.")}else{let d=!1,p=Object.getOwnPropertyNames(t);for(let m of this.outputNames)if(p.indexOf(m)!==-1){let g=t[m];(g===null||g instanceof oi)&&(d=!0,l=!1,r[m]=g)}if(d){if(typeof n=="object"&&n!==null)a=n;else if(typeof n<"u")throw new TypeError("'options' must be an object.")}else a=t}}else if(typeof t<"u")throw new TypeError("Unexpected argument[1]: must be 'fetches' or 'options'.");for(let d of this.inputNames)if(typeof e[d]>"u")throw new Error(`input '${d}' is missing in 'feeds'.`);if(l)for(let d of this.outputNames)r[d]=null;let c=await this.handler.run(e,r,a),h={};for(let d in c)if(Object.hasOwnProperty.call(c,d)){let p=c[d];p instanceof oi?h[d]=p:h[d]=new oi(p.type,p.data,p.dims)}return ta("InferenceSession.run"),Qs(),h}async release(){return this.handler.dispose()}static async create(e,t,n,r){Ks(),ea("InferenceSession.create");let a,l={};if(typeof e=="string"){if(a=e,typeof t=="object"&&t!==null)l=t;else if(typeof t<"u")throw new TypeError("'options' must be an object.")}else if(e instanceof Uint8Array){if(a=e,typeof t=="object"&&t!==null)l=t;else if(typeof t<"u")throw new TypeError("'options' must be an object.")}else if(e instanceof ArrayBuffer||typeof SharedArrayBuffer<"u"&&e instanceof SharedArrayBuffer){let p=e,m=0,g=e.byteLength;if(typeof t=="object"&&t!==null)l=t;else if(typeof t=="number"){if(m=t,!Number.isSafeInteger(m))throw new RangeError("'byteOffset' must be an integer.");if(m<0||m>=p.byteLength)throw new RangeError(`'byteOffset' is out of range [0, ${p.byteLength}).`);if(g=e.byteLength-m,typeof n=="number"){if(g=n,!Number.isSafeInteger(g))throw new RangeError("'byteLength' must be an integer.");if(g<=0||m+g>p.byteLength)throw new RangeError(`'byteLength' is out of range (0, ${p.byteLength-m}].`);if(typeof r=="object"&&r!==null)l=r;else if(typeof r<"u")throw new TypeError("'options' must be an object.")}else if(typeof n<"u")throw new TypeError("'byteLength' must be a number.")}else if(typeof t<"u")throw new TypeError("'options' must be an object.");a=new Uint8Array(p,m,g)}else throw new TypeError("Unexpected argument[0]: must be 'path' or 'buffer'.");let[c,h]=await zm(l),d=await c.createInferenceSessionHandler(a,h);return ta("InferenceSession.create"),Qs(),new ig(d)}startProfiling(){this.handler.startProfiling()}endProfiling(){this.handler.endProfiling()}get inputNames(){return this.handler.inputNames}get outputNames(){return this.handler.outputNames}get inputMetadata(){return this.handler.inputMetadata}get outputMetadata(){return this.handler.outputMetadata}}}),Wc,NT=Vt(()=>{"use strict";FT(),Wc=ng}),UT=Vt(()=>{"use strict"}),OT=Vt(()=>{"use strict"}),BT=Vt(()=>{"use strict"}),kT=Vt(()=>{"use strict"}),zT={};Hc(zT,{InferenceSession:()=>Wc,TRACE:()=>pd,TRACE_EVENT_BEGIN:()=>ea,TRACE_EVENT_END:()=>ta,TRACE_FUNC_BEGIN:()=>Ks,TRACE_FUNC_END:()=>Qs,Tensor:()=>oi,env:()=>an,registerBackend:()=>zc});var ts=Vt(()=>{"use strict";AT(),CT(),NT(),eg(),UT(),OT(),tg(),BT(),kT()}),xd=Vt(()=>{"use strict"}),rg={};Hc(rg,{default:()=>sg});var td,nd,sg,GT=Vt(()=>{"use strict";vg(),na(),bd(),td="ort-wasm-proxy-worker",nd=globalThis.self?.name===td,nd&&(self.onmessage=i=>{let{type:e,in:t}=i.data;try{switch(e){case"init-wasm":Sd(t.wasm).then(()=>{Ad(t).then(()=>{postMessage({type:e})},n=>{postMessage({type:e,err:n})})},n=>{postMessage({type:e,err:n})});break;case"init-ep":{let{epName:n,env:r}=t;Rd(r,n).then(()=>{postMessage({type:e})},a=>{postMessage({type:e,err:a})});break}case"copy-from":{let{buffer:n}=t,r=Vc(n);postMessage({type:e,out:r});break}case"create":{let{model:n,options:r}=t;Cd(n,r).then(a=>{postMessage({type:e,out:a})},a=>{postMessage({type:e,err:a})});break}case"release":Pd(t),postMessage({type:e});break;case"run":{let{sessionId:n,inputIndices:r,inputs:a,outputIndices:l,options:c}=t;Id(n,r,a,l,new Array(l.length).fill(null),c).then(h=>{h.some(d=>d[3]!=="cpu")?postMessage({type:e,err:"Proxy does not support non-cpu tensor location."}):postMessage({type:e,out:h},Dd([...a,...h]))},h=>{postMessage({type:e,err:h})});break}case"end-profiling":Ld(t),postMessage({type:e});break;default:}}catch(n){postMessage({type:e,err:n})}}),sg=nd?null:i=>new Worker(i??si,{type:"module",name:td})}),ag={};Hc(ag,{default:()=>og});async function wm(i={}){var e=i,t=!!globalThis.window,n=!!globalThis.WorkerGlobalScope,r=n&&self.name?.startsWith("em-pthread");e.mountExternalData=(x,R)=>{x.startsWith("./")&&(x=x.substring(2)),(e.Tb||(e.Tb=new Map)).set(x,R)},e.unmountExternalData=()=>{delete e.Tb,delete e.mc,delete e.lc,delete e.nc},globalThis.SharedArrayBuffer??new WebAssembly.Memory({initial:0,maximum:0,shared:!0}).buffer.constructor;var a,l,c=(x,R)=>{throw R},h=document.baseURI,d="";if(t||n){try{d=new URL(".",h).href}catch{}n&&(l=x=>{var R=new XMLHttpRequest;return R.open("GET",x,!1),R.responseType="arraybuffer",R.send(null),new Uint8Array(R.response)}),a=async x=>{if(k(x))return new Promise((G,z)=>{var Z=new XMLHttpRequest;Z.open("GET",x,!0),Z.responseType="arraybuffer",Z.onload=()=>{Z.status==200||Z.status==0&&Z.response?G(Z.response):z(Z.status)},Z.onerror=z,Z.send(null)});var R=await fetch(x,{credentials:"same-origin"});if(R.ok)return R.arrayBuffer();throw Error(R.status+" : "+R.url)}}var p,m,g,v,w,C,b=console.log.bind(console),y=console.error.bind(console),D=b,U=y,F=!1,k=x=>x.startsWith("file://");function L(){rn.buffer!=J.buffer&&ue()}if(r){let x=function(R){try{var G=R.data,z=G.Rb;if(z==="load"){let Z=[];self.onmessage=oe=>Z.push(oe),C=()=>{postMessage({Rb:"loaded"});for(let oe of Z)x(oe);self.onmessage=x};for(let oe of G.ac)e[oe]&&!e[oe].proxy||(e[oe]=(...Ne)=>{postMessage({Rb:"callHandler",$b:oe,args:Ne})},oe=="print"&&(D=e[oe]),oe=="printErr"&&(U=e[oe]));rn=G.fc,ue(),m=G.hc,at(),gs()}else if(z==="run"){(function(Z){var oe=(L(),ne)[Z+52>>>2>>>0];Z=(L(),ne)[Z+56>>>2>>>0],Kn(oe,oe-Z),St(oe)})(G.Qb),hr(G.Qb,0,0,1,0,0),ze(),vi(G.Qb),N||=!0;try{$t(G.dc,G.Vb)}catch(Z){if(Z!="unwind")throw Z}}else G.target!=="setimmediate"&&(z==="checkMailbox"?N&&yi():z&&(U(`worker: received unknown command ${z}`),U(G)))}catch(Z){throw dr(),Z}};var E=x,N=!1;self.onunhandledrejection=R=>{throw R.reason||R},self.onmessage=x}var J,V,ee,q,ne,X,te,H,le,be=!1;function ue(){var x=rn.buffer;e.HEAP8=J=new Int8Array(x),ee=new Int16Array(x),e.HEAPU8=V=new Uint8Array(x),new Uint16Array(x),e.HEAP32=q=new Int32Array(x),e.HEAPU32=ne=new Uint32Array(x),X=new Float32Array(x),te=new Float64Array(x),H=new BigInt64Array(x),new BigUint64Array(x)}function $(){be=!0,r?C():xi.Va()}function ye(x){throw U(x="Aborted("+x+")"),F=!0,x=new WebAssembly.RuntimeError(x+". Build with -sASSERTIONS for more info."),w?.(x),x}function qe(){return{a:{T:ru,f:pn,w:lt,e:ve,k:Se,h:Ae,L:de,b:me,G:ke,ua:ge,j:he,M:tt,La:gt,qa:Re,sa:rt,Ma:_t,Ja:We,Ca:kt,Ia:Kt,Z:li,ra:Ee,oa:Me,Ka:Zn,pa:or,Ra:_i,Fa:bn,ma:ns,va:Vi,ja:lr,U:Hi,Ea:vi,Oa:cr,za:ia,Aa:I,Ba:j,xa:ce,ya:se,ka:je,Ta:$e,Qa:Tt,W:ft,V:cn,Pa:Je,F:Ye,Na:qt,na:_n,u:Ve,H:et,S:kn,la:ci,ba:Ci,Ua:M,Ga:Qt,Ha:jn,ta:bt,I:Lr,wa:go,Y:_o,Da:vo,X:yo,$:vu,N:$i,aa:Ro,O:Ao,v:fu,d:wo,m:os,n:su,r:lu,ca:Pe,E:ms,o:au,P:ui,C:Qn,J:To,da:Eo,ea:ps,z:cu,fa:fs,Q:mu,ga:pu,y:ds,D:gu,c:ls,q:cs,i:Fr,_:yu,l:ou,p:us,s:Mo,t:hs,x:uu,R:du,A:_u,K:hu,B:ua,ha:ca,ia:la,g:nu,a:rn,Sa:Dt}}}async function at(){function x(z,Z){return xi=z.exports,xi=(function(){var oe=xi,Ne=At=>()=>At()>>>0,st=At=>It=>At(It)>>>0;return(oe=Object.assign({},oe)).ub=Ne(oe.ub),oe.wb=st(oe.wb),oe.Kb=st(oe.Kb),oe.Lb=Ne(oe.Lb),oe.Pb=st(oe.Pb),oe})(),Wt.push(xi.xb),z=xi,e._OrtInit=z.Wa,e._OrtGetLastError=z.Xa,e._OrtCreateSessionOptions=z.Ya,e._OrtAppendExecutionProvider=z.Za,e._OrtAddFreeDimensionOverride=z._a,e._OrtAddSessionConfigEntry=z.$a,e._OrtReleaseSessionOptions=z.ab,e._OrtCreateSession=z.bb,e._OrtReleaseSession=z.cb,e._OrtGetInputOutputCount=z.db,e._OrtGetInputOutputMetadata=z.eb,e._OrtFree=z.fb,e._OrtCreateTensor=z.gb,e._OrtGetTensorData=z.hb,e._OrtReleaseTensor=z.ib,e._OrtCreateRunOptions=z.jb,e._OrtAddRunConfigEntry=z.kb,e._OrtReleaseRunOptions=z.lb,e._OrtCreateBinding=z.mb,e._OrtBindInput=z.nb,e._OrtBindOutput=z.ob,e._OrtClearBoundOutputs=z.pb,e._OrtReleaseBinding=z.qb,e._OrtRunWithBinding=z.rb,e._OrtRun=z.sb,e._OrtEndProfiling=z.tb,dn=z.ub,Wi=e._free=z.vb,Pi=e._malloc=z.wb,hr=z.zb,dr=z.Ab,Pt=z.Bb,xo=z.Cb,In=z.Db,ra=z.Eb,Ii=z.Fb,Mt=z.Gb,Dr=z.Hb,Kn=z.Ib,St=z.Jb,sa=z.Kb,xt=z.Lb,ss=z.Mb,as=z.Nb,bo=z.Ob,aa=z.Pb,oa=z.yb,m=Z,xi}var R,G=qe();return e.instantiateWasm?new Promise(z=>{e.instantiateWasm(G,(Z,oe)=>{z(x(Z,oe))})}):r?x(new WebAssembly.Instance(m,qe()),m):(le??=e.locateFile?e.locateFile?e.locateFile("ort-wasm-simd-threaded.wasm",d):d+"ort-wasm-simd-threaded.wasm":new URL("ort-wasm-simd-threaded.wasm",document.baseURI).href,R=await(async function(z){var Z=le;if(!p&&!k(Z))try{var oe=fetch(Z,{credentials:"same-origin"});return await WebAssembly.instantiateStreaming(oe,z)}catch(Ne){U(`wasm streaming compile failed: ${Ne}`),U("falling back to ArrayBuffer instantiation")}return(async function(Ne,st){try{var At=await(async function(It){if(!p)try{var en=await a(It);return new Uint8Array(en)}catch{}if(It==le&&p)It=new Uint8Array(p);else{if(!l)throw"both async and sync fetching of the wasm failed";It=l(It)}return It})(Ne);return await WebAssembly.instantiate(At,st)}catch(It){U(`failed to asynchronously prepare wasm: ${It}`),ye(It)}})(Z,z)})(G),x(R.instance,R.module))}class fe{name="ExitStatus";constructor(R){this.message=`Program terminated with exit(${R})`,this.status=R}}var He=x=>{x.terminate(),x.onmessage=()=>{}},Ie=[],Qe=0,Ue=null,Ke=x=>{Ht.length==0&&(yn(),nt(Ht[0]));var R=Ht.pop();if(!R)return 6;mt.push(R),Et[x.Qb]=R,R.Qb=x.Qb;var G={Rb:"run",dc:x.cc,Vb:x.Vb,Qb:x.Qb};return R.postMessage(G,x.Zb),0},ct=0,Oe=(x,R,...G)=>{var z,Z=16*G.length,oe=xt(),Ne=sa(Z),st=Ne>>>3;for(z of G)typeof z=="bigint"?((L(),H)[st++>>>0]=1n,(L(),H)[st++>>>0]=z):((L(),H)[st++>>>0]=0n,(L(),te)[st++>>>0]=z);return x=Pt(x,0,Z,Ne,R),St(oe),x};function Dt(x){if(r)return Oe(0,1,x);if(g=x,!(0<ct)){for(var R of mt)He(R);for(R of Ht)He(R);Ht=[],mt=[],Et={},F=!0}c(0,new fe(x))}function Bt(x){if(r)return Oe(1,0,x);bt(x)}var bt=x=>{if(g=x,r)throw Bt(x),"unwind";Dt(x)},Ht=[],mt=[],Wt=[],Et={},gn=x=>{var R=x.Qb;delete Et[R],Ht.push(x),mt.splice(mt.indexOf(x),1),x.Qb=0,xo(R)};function ze(){Wt.forEach(x=>x())}var nt=x=>new Promise(R=>{x.onmessage=Z=>{var oe=Z.data;if(Z=oe.Rb,oe.Ub&&oe.Ub!=dn()){var Ne=Et[oe.Ub];Ne?Ne.postMessage(oe,oe.Zb):U(`Internal error! Worker sent a message "${Z}" to target pthread ${oe.Ub}, but that thread no longer exists!`)}else Z==="checkMailbox"?yi():Z==="spawnThread"?Ke(oe):Z==="cleanupThread"?Gi(()=>{gn(Et[oe.ec])}):Z==="loaded"?(x.loaded=!0,R(x)):oe.target==="setimmediate"?x.postMessage(oe):Z==="uncaughtException"?x.onerror(oe.error):Z==="callHandler"?e[oe.$b](...oe.args):Z&&U(`worker sent an unknown command ${Z}`)},x.onerror=Z=>{throw U(`worker sent an error! ${Z.filename}:${Z.lineno}: ${Z.message}`),Z};var G,z=[];for(G of[])e.propertyIsEnumerable(G)&&z.push(G);x.postMessage({Rb:"load",ac:z,fc:rn,hc:m})});function yn(){var x=new Worker((()=>{let R=URL;return document.baseURI>"file:"&&document.baseURI<"file;"?new R("ort.wasm.bundle.min.mjs",document.baseURI):new URL(document.baseURI)})(),{type:"module",workerData:"em-pthread",name:"em-pthread"});Ht.push(x)}var rn,Y=[],ot=x=>{var R=Y[x];return R||(Y[x]=R=oa.get(x)),R},$t=(x,R)=>{ct=0,x=ot(x)(R),0<ct?g=x:In(x)},Xt=[],Ge=0;function pn(x){var R=new ie(x>>>=0);return(L(),J)[R.Sb+12>>>0]==0&&(O(R,!0),Ge--),A(R,!1),Xt.push(R),aa(x)}var it=0,lt=()=>{Mt(0,0);var x=Xt.pop();ss(x.Wb),it=0};function O(x,R){R=R?1:0,(L(),J)[x.Sb+12>>>0]=R}function A(x,R){R=R?1:0,(L(),J)[x.Sb+13>>>0]=R}class ie{constructor(R){this.Wb=R,this.Sb=R-24}}var we=x=>{var R=it;if(!R)return Dr(0),0;var G=new ie(R);(L(),ne)[G.Sb+16>>>2>>>0]=R;var z=(L(),ne)[G.Sb+4>>>2>>>0];if(!z)return Dr(0),R;for(var Z of x){if(Z===0||Z===z)break;if(bo(Z,z,G.Sb+16))return Dr(Z),R}return Dr(z),R};function ve(){return we([])}function Se(x){return we([x>>>0])}function Ae(x,R,G,z){return we([x>>>0,R>>>0,G>>>0,z>>>0])}var de=()=>{var x=Xt.pop();x||ye("no exception to throw");var R=x.Wb;throw(L(),J)[x.Sb+13>>>0]==0&&(Xt.push(x),A(x,!0),O(x,!1),Ge++),as(R),it=R};function me(x,R,G){var z=new ie(x>>>=0);throw R>>>=0,G>>>=0,(L(),ne)[z.Sb+16>>>2>>>0]=0,(L(),ne)[z.Sb+4>>>2>>>0]=R,(L(),ne)[z.Sb+8>>>2>>>0]=G,as(x),Ge++,it=x}var ke=()=>Ge;function W(x,R,G,z){return r?Oe(2,1,x,R,G,z):ge(x,R,G,z)}function ge(x,R,G,z){if(x>>>=0,R>>>=0,G>>>=0,z>>>=0,!globalThis.SharedArrayBuffer)return 6;var Z=[];return r&&Z.length===0?W(x,R,G,z):(x={cc:G,Qb:x,Vb:z,Zb:Z},r?(x.Rb="spawnThread",postMessage(x,Z),0):Ke(x))}function he(x){throw it||=x>>>0,it}var Be=globalThis.TextDecoder&&new TextDecoder,De=(x,R=0,G,z)=>{var Z=R>>>=0;if(G=Z+G,z)z=G;else{for(;x[Z]&&!(Z>=G);)++Z;z=Z}if(16<z-R&&x.buffer&&Be)return Be.decode(x.buffer instanceof ArrayBuffer?x.subarray(R,z):x.slice(R,z));for(Z="";R<z;)if(128&(G=x[R++])){var oe=63&x[R++];if((224&G)==192)Z+=String.fromCharCode((31&G)<<6|oe);else{var Ne=63&x[R++];65536>(G=(240&G)==224?(15&G)<<12|oe<<6|Ne:(7&G)<<18|oe<<12|Ne<<6|63&x[R++])?Z+=String.fromCharCode(G):(G-=65536,Z+=String.fromCharCode(55296|G>>10,56320|1023&G))}}else Z+=String.fromCharCode(G);return Z},Fe=(x,R,G)=>(x>>>=0)?De((L(),V),x,R,G):"";function tt(x,R,G){return r?Oe(3,1,x,R,G):0}function gt(x,R){if(r)return Oe(4,1,x,R)}function Re(x,R){if(r)return Oe(5,1,x,R)}function rt(x,R,G){if(r)return Oe(6,1,x,R,G)}function _t(x,R,G){return r?Oe(7,1,x,R,G):0}function We(x,R){if(r)return Oe(8,1,x,R)}function kt(x,R,G){if(r)return Oe(9,1,x,R,G)}function Kt(x,R,G,z){if(r)return Oe(10,1,x,R,G,z)}function li(x,R,G,z){if(r)return Oe(11,1,x,R,G,z)}function Ee(x,R,G,z){if(r)return Oe(12,1,x,R,G,z)}function Me(x){if(r)return Oe(13,1,x)}function Zn(x,R){if(r)return Oe(14,1,x,R)}function or(x,R,G){if(r)return Oe(15,1,x,R,G)}var _i=()=>ye("");function bn(x){hr(x>>>0,!n,1,!t,131072,!1),ze()}var Gi=x=>{if(!F)try{if(x(),!(0<ct))try{r?dn()&&In(g):bt(g)}catch(R){R instanceof fe||R=="unwind"||c(0,R)}}catch(R){R instanceof fe||R=="unwind"||c(0,R)}},qn=!Atomics.waitAsync||globalThis.navigator?.userAgent&&91>Number((navigator.userAgent.match(/Chrom(e|ium)\/([0-9]+)\./)||[])[2]);function vi(x){x>>>=0,qn||(Atomics.waitAsync((L(),q),x>>>2,x).value.then(yi),x+=128,Atomics.store((L(),q),x>>>2,1))}var yi=()=>Gi(()=>{var x=dn();x&&(vi(x),Ii())});function ns(x,R){(x>>>=0)==R>>>0?setTimeout(yi):r?postMessage({Ub:x,Rb:"checkMailbox"}):(x=Et[x])&&x.postMessage({Rb:"checkMailbox"})}var Pn=[];function Vi(x,R,G,z,Z){for(R>>>=0,Z>>>=0,Pn.length=0,G=Z>>>3,z=Z+z>>>3;G<z;){var oe;oe=(L(),H)[G++>>>0]?(L(),H)[G++>>>0]:(L(),te)[G++>>>0],Pn.push(oe)}return(R?So[R]:iu[x])(...Pn)}var lr=()=>{ct=0};function Hi(x){x>>>=0,r?postMessage({Rb:"cleanupThread",ec:x}):gn(Et[x])}function cr(x){}function ia(x,R){x=-9007199254740992>x||9007199254740992<x?NaN:Number(x),R>>>=0,x=new Date(1e3*x),(L(),q)[R>>>2>>>0]=x.getUTCSeconds(),(L(),q)[R+4>>>2>>>0]=x.getUTCMinutes(),(L(),q)[R+8>>>2>>>0]=x.getUTCHours(),(L(),q)[R+12>>>2>>>0]=x.getUTCDate(),(L(),q)[R+16>>>2>>>0]=x.getUTCMonth(),(L(),q)[R+20>>>2>>>0]=x.getUTCFullYear()-1900,(L(),q)[R+24>>>2>>>0]=x.getUTCDay(),x=(x.getTime()-Date.UTC(x.getUTCFullYear(),0,1,0,0,0,0))/864e5|0,(L(),q)[R+28>>>2>>>0]=x}var is=x=>x%4==0&&(x%100!=0||x%400==0),rs=[0,31,60,91,121,152,182,213,244,274,305,335],ur=[0,31,59,90,120,151,181,212,243,273,304,334];function I(x,R){x=-9007199254740992>x||9007199254740992<x?NaN:Number(x),R>>>=0,x=new Date(1e3*x),(L(),q)[R>>>2>>>0]=x.getSeconds(),(L(),q)[R+4>>>2>>>0]=x.getMinutes(),(L(),q)[R+8>>>2>>>0]=x.getHours(),(L(),q)[R+12>>>2>>>0]=x.getDate(),(L(),q)[R+16>>>2>>>0]=x.getMonth(),(L(),q)[R+20>>>2>>>0]=x.getFullYear()-1900,(L(),q)[R+24>>>2>>>0]=x.getDay();var G=(is(x.getFullYear())?rs:ur)[x.getMonth()]+x.getDate()-1|0;(L(),q)[R+28>>>2>>>0]=G,(L(),q)[R+36>>>2>>>0]=-60*x.getTimezoneOffset(),G=new Date(x.getFullYear(),6,1).getTimezoneOffset();var z=new Date(x.getFullYear(),0,1).getTimezoneOffset();x=0|(G!=z&&x.getTimezoneOffset()==Math.min(z,G)),(L(),q)[R+32>>>2>>>0]=x}function j(x){x>>>=0;var R=new Date((L(),q)[x+20>>>2>>>0]+1900,(L(),q)[x+16>>>2>>>0],(L(),q)[x+12>>>2>>>0],(L(),q)[x+8>>>2>>>0],(L(),q)[x+4>>>2>>>0],(L(),q)[x>>>2>>>0],0),G=(L(),q)[x+32>>>2>>>0],z=R.getTimezoneOffset(),Z=new Date(R.getFullYear(),6,1).getTimezoneOffset(),oe=new Date(R.getFullYear(),0,1).getTimezoneOffset(),Ne=Math.min(oe,Z);return 0>G?(L(),q)[x+32>>>2>>>0]=+(Z!=oe&&Ne==z):0<G!=(Ne==z)&&(Z=Math.max(oe,Z),R.setTime(R.getTime()+6e4*((0<G?Ne:Z)-z))),(L(),q)[x+24>>>2>>>0]=R.getDay(),G=(is(R.getFullYear())?rs:ur)[R.getMonth()]+R.getDate()-1|0,(L(),q)[x+28>>>2>>>0]=G,(L(),q)[x>>>2>>>0]=R.getSeconds(),(L(),q)[x+4>>>2>>>0]=R.getMinutes(),(L(),q)[x+8>>>2>>>0]=R.getHours(),(L(),q)[x+12>>>2>>>0]=R.getDate(),(L(),q)[x+16>>>2>>>0]=R.getMonth(),(L(),q)[x+20>>>2>>>0]=R.getYear(),x=R.getTime(),BigInt(isNaN(x)?-1:x/1e3)}function ce(x,R,G,z,Z,oe,Ne){return r?Oe(16,1,x,R,G,z,Z,oe,Ne):-52}function se(x,R,G,z,Z,oe){if(r)return Oe(17,1,x,R,G,z,Z,oe)}var K={},Ve=()=>performance.timeOrigin+performance.now();function je(x,R){if(r)return Oe(18,1,x,R);if(K[x]&&(clearTimeout(K[x].id),delete K[x]),!R)return 0;var G=setTimeout(()=>{delete K[x],Gi(()=>ra(x,performance.timeOrigin+performance.now()))},R);return K[x]={id:G,oc:R},0}var Ce=(x,R,G)=>{var z=(L(),V);if(R>>>=0,0<G){var Z=R;G=R+G-1;for(var oe=0;oe<x.length;++oe){var Ne=x.codePointAt(oe);if(127>=Ne){if(R>=G)break;z[R++>>>0]=Ne}else if(2047>=Ne){if(R+1>=G)break;z[R++>>>0]=192|Ne>>6,z[R++>>>0]=128|63&Ne}else if(65535>=Ne){if(R+2>=G)break;z[R++>>>0]=224|Ne>>12,z[R++>>>0]=128|Ne>>6&63,z[R++>>>0]=128|63&Ne}else{if(R+3>=G)break;z[R++>>>0]=240|Ne>>18,z[R++>>>0]=128|Ne>>12&63,z[R++>>>0]=128|Ne>>6&63,z[R++>>>0]=128|63&Ne,oe++}}z[R>>>0]=0,x=R-Z}else x=0;return x};function $e(x,R,G,z){x>>>=0,R>>>=0,G>>>=0,z>>>=0;var Z=new Date().getFullYear(),oe=new Date(Z,0,1).getTimezoneOffset();Z=new Date(Z,6,1).getTimezoneOffset();var Ne=Math.max(oe,Z);(L(),ne)[x>>>2>>>0]=60*Ne,(L(),q)[R>>>2>>>0]=+(oe!=Z),x=(R=st=>{var At=Math.abs(st);return`UTC${0<=st?"-":"+"}${String(Math.floor(At/60)).padStart(2,"0")}${String(At%60).padStart(2,"0")}`})(oe),R=R(Z),Z<oe?(Ce(x,G,17),Ce(R,z,17)):(Ce(x,z,17),Ce(R,G,17))}var Je=()=>Date.now(),dt=1;function Tt(x,R,G){if(G>>>=0,!(0<=x&&3>=x))return 28;if(x===0)x=Date.now();else{if(!dt)return 52;x=performance.timeOrigin+performance.now()}return x=Math.round(1e6*x),(L(),H)[G>>>3>>>0]=BigInt(x),0}var Ze=[];function ft(x,R,G){x>>>=0,R>>>=0,G>>>=0,Ze.length=0;for(var z;z=(L(),V)[R++>>>0];){var Z=z!=105;G+=(Z&=z!=112)&&G%8?4:0,Ze.push(z==112?(L(),ne)[G>>>2>>>0]:z==106?(L(),H)[G>>>3>>>0]:z==105?(L(),q)[G>>>2>>>0]:(L(),te)[G>>>3>>>0]),G+=Z?8:4}return So[x](...Ze)}var cn=()=>{};function Ye(x,R){return U(Fe(x>>>0,R>>>0))}var qt=()=>{throw ct+=1,"unwind"};function _n(){return 4294901760}var et=()=>navigator.hardwareConcurrency,on={},Ft=x=>{for(var R=0,G=0;G<x.length;++G){var z=x.charCodeAt(G);127>=z?R++:2047>=z?R+=2:55296<=z&&57343>=z?(R+=4,++G):R+=3}return R},Bn=x=>{var R;return(R=/\bwasm-function\[\d+\]:(0x[0-9a-f]+)/.exec(x))?+R[1]:(R=/:(\d+):\d+(?:\)|$)/.exec(x))?2147483648|+R[1]:0},vn=x=>{for(var R of x)(x=Bn(R))&&(on[x]=R)};function Ci(){var x=Error().stack.toString().split(`
`);return x[0]=="Error"&&x.shift(),vn(x),on.Xb=Bn(x[3]),on.bc=x,on.Xb}function kn(x){if(!(x=on[x>>>0]))return 0;var R;if(R=/^\s+at .*\.wasm\.(.*) \(.*\)$/.exec(x))x=R[1];else if(R=/^\s+at (.*) \(.*\)$/.exec(x))x=R[1];else{if(!(R=/^(.+?)@/.exec(x)))return 0;x=R[1]}Wi(kn.Yb??0),R=Ft(x)+1;var G=Pi(R);return G&&Ce(x,G,R),kn.Yb=G,kn.Yb}function ci(x){x>>>=0;var R=(L(),V).length;if(x<=R||4294901760<x)return!1;for(var G=1;4>=G;G*=2){var z=R*(1+.2/G);z=Math.min(z,x+100663296);e:{z=(Math.min(4294901760,65536*Math.ceil(Math.max(x,z)/65536))-rn.buffer.byteLength+65535)/65536|0;try{rn.grow(z),ue();var Z=1;break e}catch{}Z=void 0}if(Z)return!0}return!1}function M(x,R,G){if(x>>>=0,R>>>=0,on.Xb==x)var z=on.bc;else(z=Error().stack.toString().split(`
`))[0]=="Error"&&z.shift(),vn(z);for(var Z=3;z[Z]&&Bn(z[Z])!=x;)++Z;for(x=0;x<G&&z[x+Z];++x)(L(),q)[R+4*x>>>2>>>0]=Bn(z[x+Z]);return x}var vt,Cn={},jt=()=>{if(!vt){var x,R={USER:"web_user",LOGNAME:"web_user",PATH:"/",PWD:"/",HOME:"/home/web_user",LANG:(globalThis.navigator?.language??"C").replace("-","_")+".UTF-8",_:"./this.program"};for(x in Cn)Cn[x]===void 0?delete R[x]:R[x]=Cn[x];var G=[];for(x in R)G.push(`${x}=${R[x]}`);vt=G}return vt};function Qt(x,R){if(r)return Oe(19,1,x,R);x>>>=0,R>>>=0;var G,z=0,Z=0;for(G of jt()){var oe=R+z;(L(),ne)[x+Z>>>2>>>0]=oe,z+=Ce(G,oe,1/0)+1,Z+=4}return 0}function jn(x,R){if(r)return Oe(20,1,x,R);x>>>=0,R>>>=0;var G=jt();for(var z of((L(),ne)[x>>>2>>>0]=G.length,x=0,G))x+=Ft(z)+1;return(L(),ne)[R>>>2>>>0]=x,0}function Lr(x){return r?Oe(21,1,x):52}function go(x,R,G,z,Z){return r?Oe(22,1,x,R,G,z,Z):52}function _o(x,R,G,z){return r?Oe(23,1,x,R,G,z):52}function vo(x,R,G,z){return r?Oe(24,1,x,R,G,z):70}var tu=[null,[],[]];function yo(x,R,G,z){if(r)return Oe(25,1,x,R,G,z);R>>>=0,G>>>=0,z>>>=0;for(var Z=0,oe=0;oe<G;oe++){var Ne=(L(),ne)[R>>>2>>>0],st=(L(),ne)[R+4>>>2>>>0];R+=8;for(var At=0;At<st;At++){var It=x,en=(L(),V)[Ne+At>>>0],zn=tu[It];en===0||en===10?((It===1?D:U)(De(zn)),zn.length=0):zn.push(en)}Z+=st}return(L(),ne)[z>>>2>>>0]=Z,0}function nu(x){return x>>>0}r||(function(){for(var x=e.numThreads-1;x--;)yn();Ie.push(async()=>{var R=(async function(){if(!r)return Promise.all(Ht.map(nt))})();Qe++,await R,--Qe==0&&Ue&&(R=Ue,Ue=null,R())})})(),r||(rn=new WebAssembly.Memory({initial:256,maximum:65536,shared:!0}),ue()),e.wasmBinary&&(p=e.wasmBinary),e.stackSave=()=>xt(),e.stackRestore=x=>St(x),e.stackAlloc=x=>sa(x),e.setValue=function(x,R,G="i8"){switch(G.endsWith("*")&&(G="*"),G){case"i1":case"i8":(L(),J)[x>>>0]=R;break;case"i16":(L(),ee)[x>>>1>>>0]=R;break;case"i32":(L(),q)[x>>>2>>>0]=R;break;case"i64":(L(),H)[x>>>3>>>0]=BigInt(R);break;case"float":(L(),X)[x>>>2>>>0]=R;break;case"double":(L(),te)[x>>>3>>>0]=R;break;case"*":(L(),ne)[x>>>2>>>0]=R;break;default:ye(`invalid type for setValue: ${G}`)}},e.getValue=function(x,R="i8"){switch(R.endsWith("*")&&(R="*"),R){case"i1":case"i8":return(L(),J)[x>>>0];case"i16":return(L(),ee)[x>>>1>>>0];case"i32":return(L(),q)[x>>>2>>>0];case"i64":return(L(),H)[x>>>3>>>0];case"float":return(L(),X)[x>>>2>>>0];case"double":return(L(),te)[x>>>3>>>0];case"*":return(L(),ne)[x>>>2>>>0];default:ye(`invalid type for getValue: ${R}`)}},e.UTF8ToString=Fe,e.stringToUTF8=Ce,e.lengthBytesUTF8=Ft;var dn,Wi,Pi,hr,dr,Pt,xo,In,ra,Ii,Mt,Dr,Kn,St,sa,xt,ss,as,bo,aa,oa,xi,iu=[Dt,Bt,W,tt,gt,Re,rt,_t,We,kt,Kt,li,Ee,Me,Zn,or,ce,se,je,Qt,jn,Lr,go,_o,vo,yo],So={1042604:(x,R,G,z,Z)=>{if(e===void 0||!e.Tb)return 1;if((x=Fe(Number(x>>>0))).startsWith("./")&&(x=x.substring(2)),!(x=e.Tb.get(x)))return 2;if(R=Number(R>>>0),G=Number(G>>>0),z=Number(z>>>0),R+G>x.byteLength)return 3;try{let oe=x.subarray(R,R+G);switch(Z){case 0:(L(),V).set(oe,z>>>0);break;case 1:e.ic?e.ic(z,oe):e.kc(z,oe);break;default:return 4}return 0}catch{return 4}},1043428:()=>typeof wasmOffsetConverter<"u"};function ru(){return typeof wasmOffsetConverter<"u"}function su(x,R,G,z){var Z=xt();try{return ot(x)(R,G,z)}catch(oe){if(St(Z),oe!==oe+0)throw oe;Mt(1,0)}}function os(x,R,G){var z=xt();try{return ot(x)(R,G)}catch(Z){if(St(z),Z!==Z+0)throw Z;Mt(1,0)}}function ls(x){var R=xt();try{ot(x)()}catch(G){if(St(R),G!==G+0)throw G;Mt(1,0)}}function wo(x,R){var G=xt();try{return ot(x)(R)}catch(z){if(St(G),z!==z+0)throw z;Mt(1,0)}}function Fr(x,R,G){var z=xt();try{ot(x)(R,G)}catch(Z){if(St(z),Z!==Z+0)throw Z;Mt(1,0)}}function cs(x,R){var G=xt();try{ot(x)(R)}catch(z){if(St(G),z!==z+0)throw z;Mt(1,0)}}function au(x,R,G,z,Z,oe,Ne){var st=xt();try{return ot(x)(R,G,z,Z,oe,Ne)}catch(At){if(St(st),At!==At+0)throw At;Mt(1,0)}}function Mo(x,R,G,z,Z,oe){var Ne=xt();try{ot(x)(R,G,z,Z,oe)}catch(st){if(St(Ne),st!==st+0)throw st;Mt(1,0)}}function ou(x,R,G,z){var Z=xt();try{ot(x)(R,G,z)}catch(oe){if(St(Z),oe!==oe+0)throw oe;Mt(1,0)}}function us(x,R,G,z,Z){var oe=xt();try{ot(x)(R,G,z,Z)}catch(Ne){if(St(oe),Ne!==Ne+0)throw Ne;Mt(1,0)}}function hs(x,R,G,z,Z,oe,Ne){var st=xt();try{ot(x)(R,G,z,Z,oe,Ne)}catch(At){if(St(st),At!==At+0)throw At;Mt(1,0)}}function la(x,R,G,z,Z,oe,Ne){var st=xt();try{ot(x)(R,G,z,Z,oe,Ne)}catch(At){if(St(st),At!==At+0)throw At;Mt(1,0)}}function ca(x,R,G,z,Z,oe,Ne,st){var At=xt();try{ot(x)(R,G,z,Z,oe,Ne,st)}catch(It){if(St(At),It!==It+0)throw It;Mt(1,0)}}function lu(x,R,G,z,Z){var oe=xt();try{return ot(x)(R,G,z,Z)}catch(Ne){if(St(oe),Ne!==Ne+0)throw Ne;Mt(1,0)}}function cu(x,R,G){var z=xt();try{return ot(x)(R,G)}catch(Z){if(St(z),Z!==Z+0)throw Z;Mt(1,0)}}function uu(x,R,G,z,Z,oe,Ne,st){var At=xt();try{ot(x)(R,G,z,Z,oe,Ne,st)}catch(It){if(St(At),It!==It+0)throw It;Mt(1,0)}}function hu(x,R,G,z,Z,oe,Ne,st,At,It,en,zn){var Zt=xt();try{ot(x)(R,G,z,Z,oe,Ne,st,At,It,en,zn)}catch(hi){if(St(Zt),hi!==hi+0)throw hi;Mt(1,0)}}function ds(x,R,G){var z=xt();try{return ot(x)(R,G)}catch(Z){if(St(z),Z!==Z+0)throw Z;return Mt(1,0),0n}}function du(x,R,G,z,Z,oe,Ne,st,At){var It=xt();try{ot(x)(R,G,z,Z,oe,Ne,st,At)}catch(en){if(St(It),en!==en+0)throw en;Mt(1,0)}}function fu(x){var R=xt();try{return ot(x)()}catch(G){if(St(R),G!==G+0)throw G;Mt(1,0)}}function pu(x,R){var G=xt();try{return ot(x)(R)}catch(z){if(St(G),z!==z+0)throw z;return Mt(1,0),0n}}function fs(x,R,G,z){var Z=xt();try{return ot(x)(R,G,z)}catch(oe){if(St(Z),oe!==oe+0)throw oe;Mt(1,0)}}function mu(x){var R=xt();try{return ot(x)()}catch(G){if(St(R),G!==G+0)throw G;return Mt(1,0),0n}}function ps(x,R,G,z){var Z=xt();try{return ot(x)(R,G,z)}catch(oe){if(St(Z),oe!==oe+0)throw oe;Mt(1,0)}}function Eo(x,R,G,z,Z){var oe=xt();try{return ot(x)(R,G,z,Z)}catch(Ne){if(St(oe),Ne!==Ne+0)throw Ne;Mt(1,0)}}function To(x,R,G,z,Z,oe){var Ne=xt();try{return ot(x)(R,G,z,Z,oe)}catch(st){if(St(Ne),st!==st+0)throw st;Mt(1,0)}}function ms(x,R,G,z,Z,oe){var Ne=xt();try{return ot(x)(R,G,z,Z,oe)}catch(st){if(St(Ne),st!==st+0)throw st;Mt(1,0)}}function Pe(x,R,G,z,Z,oe){var Ne=xt();try{return ot(x)(R,G,z,Z,oe)}catch(st){if(St(Ne),st!==st+0)throw st;Mt(1,0)}}function ui(x,R,G,z,Z,oe,Ne,st){var At=xt();try{return ot(x)(R,G,z,Z,oe,Ne,st)}catch(It){if(St(At),It!==It+0)throw It;Mt(1,0)}}function gu(x,R,G,z,Z){var oe=xt();try{return ot(x)(R,G,z,Z)}catch(Ne){if(St(oe),Ne!==Ne+0)throw Ne;return Mt(1,0),0n}}function Ao(x,R,G,z){var Z=xt();try{return ot(x)(R,G,z)}catch(oe){if(St(Z),oe!==oe+0)throw oe;Mt(1,0)}}function $i(x,R,G,z){var Z=xt();try{return ot(x)(R,G,z)}catch(oe){if(St(Z),oe!==oe+0)throw oe;Mt(1,0)}}function Qn(x,R,G,z,Z,oe,Ne,st,At,It,en,zn){var Zt=xt();try{return ot(x)(R,G,z,Z,oe,Ne,st,At,It,en,zn)}catch(hi){if(St(Zt),hi!==hi+0)throw hi;Mt(1,0)}}function _u(x,R,G,z,Z,oe,Ne,st,At,It,en){var zn=xt();try{ot(x)(R,G,z,Z,oe,Ne,st,At,It,en)}catch(Zt){if(St(zn),Zt!==Zt+0)throw Zt;Mt(1,0)}}function ua(x,R,G,z,Z,oe,Ne,st,At,It,en,zn,Zt,hi,Co,xu){var bu=xt();try{ot(x)(R,G,z,Z,oe,Ne,st,At,It,en,zn,Zt,hi,Co,xu)}catch(fr){if(St(bu),fr!==fr+0)throw fr;Mt(1,0)}}function Ro(x,R,G){var z=xt();try{return ot(x)(R,G)}catch(Z){if(St(z),Z!==Z+0)throw Z;Mt(1,0)}}function vu(x,R,G){var z=xt();try{return ot(x)(R,G)}catch(Z){if(St(z),Z!==Z+0)throw Z;Mt(1,0)}}function yu(x,R,G,z){var Z=xt();try{ot(x)(R,G,z)}catch(oe){if(St(Z),oe!==oe+0)throw oe;Mt(1,0)}}function gs(){if(0<Qe)Ue=gs;else if(r)v?.(e),$();else{for(var x=Ie;0<x.length;)x.shift()(e);0<Qe?Ue=gs:(e.calledRun=!0,F||($(),v?.(e)))}}return r||(xi=await at(),gs()),e.PTR_SIZE=4,be?e:new Promise((x,R)=>{v=x,w=R})}var og,Mm,VT=Vt(()=>{"use strict";og=wm,Mm=globalThis.self?.name?.startsWith("em-pthread"),Mm&&wm()}),id,md,Em,si,lg,Nc,Tm,Am,rd,Rm,sd,cg,ad,ug,bd=Vt(()=>{"use strict";xd(),id=typeof location>"u"?void 0:location.origin,md=document.baseURI>"file:"&&document.baseURI<"file;",Em=()=>{if(md){let i=URL;return new URL(new i("ort.wasm.bundle.min.mjs",document.baseURI).href,id).href}return document.baseURI},si=Em(),lg=()=>{if(si&&!si.startsWith("blob:"))return si.substring(0,si.lastIndexOf("/")+1)},Nc=(i,e)=>{try{let t=e??si;return(t?new URL(i,t):new URL(i)).origin===id}catch{return!1}},Tm=(i,e)=>{let t=e??si;try{return(t?new URL(i,t):new URL(i)).href}catch{return}},Am=(i,e)=>`${e??"./"}${i}`,rd=async i=>{let e=await(await fetch(i,{credentials:"same-origin"})).blob();return URL.createObjectURL(e)},Rm=async i=>(await import(i)).default,sd=(GT(),fd(rg)).default,cg=async()=>{if(!si)throw new Error("Failed to load proxy worker: cannot determine the script source URL.");if(Nc(si))return[void 0,sd()];let i=await rd(si);return[i,sd(i)]},ad=(VT(),fd(ag)).default,ug=async(i,e,t,n)=>{let r=ad&&!(i||e);if(r)if(si)r=Nc(si)||n&&!t;else if(n&&!t)r=!0;else throw new Error("cannot determine the script source URL.");if(r)return[void 0,ad];{let a="ort-wasm-simd-threaded.mjs",l=i??Tm(a,e),c=t&&l&&!Nc(l,e),h=c?await rd(l):l??Am(a,e);return[c?h:void 0,await Rm(h)]}}}),od,Uc,co,ld,Cm,Pm,Im,Sd,hn,na=Vt(()=>{"use strict";bd(),Uc=!1,co=!1,ld=!1,Cm=()=>{if(typeof SharedArrayBuffer>"u")return!1;try{return typeof MessageChannel<"u"&&new MessageChannel().port1.postMessage(new SharedArrayBuffer(1)),WebAssembly.validate(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,5,4,1,3,1,1,10,11,1,9,0,65,0,254,16,2,0,26,11]))}catch{return!1}},Pm=()=>{try{return WebAssembly.validate(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,10,30,1,28,0,65,0,253,15,253,12,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,253,186,1,26,11]))}catch{return!1}},Im=()=>{try{return WebAssembly.validate(new Uint8Array([0,97,115,109,1,0,0,0,1,5,1,96,0,1,123,3,2,1,0,10,19,1,17,0,65,1,253,15,65,2,253,15,65,3,253,15,253,147,2,11]))}catch{return!1}},Sd=async i=>{if(Uc)return Promise.resolve();if(co)throw new Error("multiple calls to 'initializeWebAssembly()' detected.");if(ld)throw new Error("previous call to 'initializeWebAssembly()' failed.");co=!0;let e=i.initTimeout,t=i.numThreads;if(i.simd!==!1){if(i.simd==="relaxed"){if(!Im())throw new Error("Relaxed WebAssembly SIMD is not supported in the current environment.")}else if(!Pm())throw new Error("WebAssembly SIMD is not supported in the current environment.")}let n=Cm();t>1&&!n&&(typeof self<"u"&&!self.crossOriginIsolated&&console.warn("env.wasm.numThreads is set to "+t+", but this will not work unless you enable crossOriginIsolated mode. See https://web.dev/cross-origin-isolation-guide/ for more info."),console.warn("WebAssembly multi-threading is not supported in the current environment. Falling back to single-threading."),i.numThreads=t=1);let r=i.wasmPaths,a=typeof r=="string"?r:void 0,l=r?.mjs,c=l?.href??l,h=r?.wasm,d=h?.href??h,p=i.wasmBinary,[m,g]=await ug(c,a,t>1,!!p||!!d),v=!1,w=[];if(e>0&&w.push(new Promise(C=>{setTimeout(()=>{v=!0,C()},e)})),w.push(new Promise((C,b)=>{let y={numThreads:t};if(p)y.wasmBinary=p,y.locateFile=D=>D;else if(d||a)y.locateFile=D=>d??a+D;else if(c&&c.indexOf("blob:")!==0)y.locateFile=D=>new URL(D,c).href;else if(m){let D=lg();D&&(y.locateFile=U=>D+U)}g(y).then(D=>{co=!1,Uc=!0,od=D,C(),m&&URL.revokeObjectURL(m)},D=>{co=!1,ld=!0,b(D)})})),await Promise.race(w),v)throw new Error(`WebAssembly backend initializing failed due to timeout: ${e}ms`)},hn=()=>{if(Uc&&od)return od;throw new Error("WebAssembly is not initialized yet.")}}),Ri,Gc,nn,wd=Vt(()=>{"use strict";na(),Ri=(i,e)=>{let t=hn(),n=t.lengthBytesUTF8(i)+1,r=t._malloc(n);return t.stringToUTF8(i,r,n),e.push(r),r},Gc=(i,e,t,n)=>{if(typeof i=="object"&&i!==null){if(t.has(i))throw new Error("Circular reference in options");t.add(i)}Object.entries(i).forEach(([r,a])=>{let l=e?e+r:r;if(typeof a=="object")Gc(a,l+".",t,n);else if(typeof a=="string"||typeof a=="number")n(l,a.toString());else if(typeof a=="boolean")n(l,a?"1":"0");else throw new Error(`Can't handle extra config type: ${typeof a}`)})},nn=i=>{let e=hn(),t=e.stackSave();try{let n=e.PTR_SIZE,r=e.stackAlloc(2*n);e._OrtGetLastError(r,r+n);let a=Number(e.getValue(r,n===4?"i32":"i64")),l=e.getValue(r+n,"*"),c=l?e.UTF8ToString(l):"";throw new Error(`${i} ERROR_CODE: ${a}, ERROR_MESSAGE: ${c}`)}finally{e.stackRestore(t)}}}),hg,HT=Vt(()=>{"use strict";na(),wd(),hg=i=>{let e=hn(),t=0,n=[],r=i||{};try{if(i?.logSeverityLevel===void 0)r.logSeverityLevel=2;else if(typeof i.logSeverityLevel!="number"||!Number.isInteger(i.logSeverityLevel)||i.logSeverityLevel<0||i.logSeverityLevel>4)throw new Error(`log severity level is not valid: ${i.logSeverityLevel}`);if(i?.logVerbosityLevel===void 0)r.logVerbosityLevel=0;else if(typeof i.logVerbosityLevel!="number"||!Number.isInteger(i.logVerbosityLevel))throw new Error(`log verbosity level is not valid: ${i.logVerbosityLevel}`);i?.terminate===void 0&&(r.terminate=!1);let a=0;return i?.tag!==void 0&&(a=Ri(i.tag,n)),t=e._OrtCreateRunOptions(r.logSeverityLevel,r.logVerbosityLevel,!!r.terminate,a),t===0&&nn("Can't create run options."),i?.extra!==void 0&&Gc(i.extra,"",new WeakSet,(l,c)=>{let h=Ri(l,n),d=Ri(c,n);e._OrtAddRunConfigEntry(t,h,d)!==0&&nn(`Can't set a run config entry: ${l} - ${c}.`)}),[t,n]}catch(a){throw t!==0&&e._OrtReleaseRunOptions(t),n.forEach(l=>e._free(l)),a}}}),Lm,Dm,Fm,Jr,Nm,dg,WT=Vt(()=>{"use strict";na(),wd(),Lm=i=>{switch(i){case"disabled":return 0;case"basic":return 1;case"extended":return 2;case"layout":return 3;case"all":return 99;default:throw new Error(`unsupported graph optimization level: ${i}`)}},Dm=i=>{switch(i){case"sequential":return 0;case"parallel":return 1;default:throw new Error(`unsupported execution mode: ${i}`)}},Fm=i=>{i.extra||(i.extra={}),i.extra.session||(i.extra.session={});let e=i.extra.session;e.use_ort_model_bytes_directly||(e.use_ort_model_bytes_directly="1"),i.executionProviders&&i.executionProviders.some(t=>(typeof t=="string"?t:t.name)==="webgpu")&&(i.enableMemPattern=!1)},Jr=(i,e,t,n)=>{let r=Ri(e,n),a=Ri(t,n);hn()._OrtAddSessionConfigEntry(i,r,a)!==0&&nn(`Can't set a session config entry: ${e} - ${t}.`)},Nm=async(i,e,t)=>{let n=e.executionProviders;for(let r of n){let a=typeof r=="string"?r:r.name,l=[];switch(a){case"webnn":if(a="WEBNN",Jr(i,"session.disable_quant_qdq","1",t),Jr(i,"session.disable_qdq_constant_folding","1",t),typeof r!="string"){let m=r?.deviceType;m&&Jr(i,"deviceType",m,t)}break;case"webgpu":if(a="JS",typeof r!="string"){let m=r;if(m?.preferredLayout){if(m.preferredLayout!=="NCHW"&&m.preferredLayout!=="NHWC")throw new Error(`preferredLayout must be either 'NCHW' or 'NHWC': ${m.preferredLayout}`);Jr(i,"preferredLayout",m.preferredLayout,t)}}break;case"wasm":case"cpu":continue;default:throw new Error(`not supported execution provider: ${a}`)}let c=Ri(a,t),h=l.length,d=0,p=0;if(h>0){d=hn()._malloc(h*hn().PTR_SIZE),t.push(d),p=hn()._malloc(h*hn().PTR_SIZE),t.push(p);for(let m=0;m<h;m++)hn().setValue(d+m*hn().PTR_SIZE,l[m][0],"*"),hn().setValue(p+m*hn().PTR_SIZE,l[m][1],"*")}await hn()._OrtAppendExecutionProvider(i,c,d,p,h)!==0&&nn(`Can't append execution provider: ${a}.`)}},dg=async i=>{let e=hn(),t=0,n=[],r=i||{};Fm(r);try{let a=Lm(r.graphOptimizationLevel??"all"),l=Dm(r.executionMode??"sequential"),c=typeof r.logId=="string"?Ri(r.logId,n):0,h=r.logSeverityLevel??2;if(!Number.isInteger(h)||h<0||h>4)throw new Error(`log severity level is not valid: ${h}`);let d=r.logVerbosityLevel??0;if(!Number.isInteger(d)||d<0||d>4)throw new Error(`log verbosity level is not valid: ${d}`);let p=typeof r.optimizedModelFilePath=="string"?Ri(r.optimizedModelFilePath,n):0;if(t=e._OrtCreateSessionOptions(a,!!r.enableCpuMemArena,!!r.enableMemPattern,l,!!r.enableProfiling,0,c,h,d,p),t===0&&nn("Can't create session options."),r.executionProviders&&await Nm(t,r,n),r.enableGraphCapture!==void 0){if(typeof r.enableGraphCapture!="boolean")throw new Error(`enableGraphCapture must be a boolean value: ${r.enableGraphCapture}`);Jr(t,"enableGraphCapture",r.enableGraphCapture.toString(),n)}if(r.freeDimensionOverrides)for(let[m,g]of Object.entries(r.freeDimensionOverrides)){if(typeof m!="string")throw new Error(`free dimension override name must be a string: ${m}`);if(typeof g!="number"||!Number.isInteger(g)||g<0)throw new Error(`free dimension override value must be a non-negative integer: ${g}`);let v=Ri(m,n);e._OrtAddFreeDimensionOverride(t,v,g)!==0&&nn(`Can't set a free dimension override: ${m} - ${g}.`)}return r.extra!==void 0&&Gc(r.extra,"",new WeakSet,(m,g)=>{Jr(t,m,g,n)}),[t,n]}catch(a){throw t!==0&&e._OrtReleaseSessionOptions(t)!==0&&nn("Can't release session options."),n.forEach(l=>e._free(l)),a}}}),Js,kc,Zs,fg,pg,Md,Ed,mg,gg=Vt(()=>{"use strict";Js=i=>{switch(i){case"int8":return 3;case"uint8":return 2;case"bool":return 9;case"int16":return 5;case"uint16":return 4;case"int32":return 6;case"uint32":return 12;case"float16":return 10;case"float32":return 1;case"float64":return 11;case"string":return 8;case"int64":return 7;case"uint64":return 13;case"int4":return 22;case"uint4":return 21;default:throw new Error(`unsupported data type: ${i}`)}},kc=i=>{switch(i){case 3:return"int8";case 2:return"uint8";case 9:return"bool";case 5:return"int16";case 4:return"uint16";case 6:return"int32";case 12:return"uint32";case 10:return"float16";case 1:return"float32";case 11:return"float64";case 8:return"string";case 7:return"int64";case 13:return"uint64";case 22:return"int4";case 21:return"uint4";default:throw new Error(`unsupported data type: ${i}`)}},Zs=(i,e)=>{let t=[-1,4,1,1,2,2,4,8,-1,1,2,8,4,8,-1,-1,-1,-1,-1,-1,-1,.5,.5][i],n=typeof e=="number"?e:e.reduce((r,a)=>r*a,1);return t>0?Math.ceil(n*t):void 0},fg=i=>{switch(i){case"float16":return typeof Float16Array<"u"?Float16Array:Uint16Array;case"float32":return Float32Array;case"uint8":return Uint8Array;case"int8":return Int8Array;case"uint16":return Uint16Array;case"int16":return Int16Array;case"int32":return Int32Array;case"bool":return Uint8Array;case"float64":return Float64Array;case"uint32":return Uint32Array;case"int64":return BigInt64Array;case"uint64":return BigUint64Array;default:throw new Error(`unsupported type: ${i}`)}},pg=i=>{switch(i){case"verbose":return 0;case"info":return 1;case"warning":return 2;case"error":return 3;case"fatal":return 4;default:throw new Error(`unsupported logging level: ${i}`)}},Md=i=>i==="float32"||i==="float16"||i==="int32"||i==="int64"||i==="uint32"||i==="uint8"||i==="bool"||i==="uint4"||i==="int4",Ed=i=>i==="float32"||i==="float16"||i==="int32"||i==="int64"||i==="uint32"||i==="uint64"||i==="int8"||i==="uint8"||i==="bool"||i==="uint4"||i==="int4",mg=i=>{switch(i){case"none":return 0;case"cpu":return 1;case"cpu-pinned":return 2;case"texture":return 3;case"gpu-buffer":return 4;case"ml-tensor":return 5;default:throw new Error(`unsupported data location: ${i}`)}}}),Td,_g=Vt(()=>{"use strict";xd(),Td=async i=>{if(typeof i=="string"){let e=await fetch(i);if(!e.ok)throw new Error(`failed to load external data file: ${i}`);let t=e.headers.get("Content-Length"),n=t?parseInt(t,10):0;if(n<1073741824)return new Uint8Array(await e.arrayBuffer());{if(!e.body)throw new Error(`failed to load external data file: ${i}, no response body.`);let r=e.body.getReader(),a;try{a=new ArrayBuffer(n)}catch(c){if(c instanceof RangeError){let h=Math.ceil(n/65536);a=new WebAssembly.Memory({initial:h,maximum:h}).buffer}else throw c}let l=0;for(;;){let{done:c,value:h}=await r.read();if(c)break;let d=h.byteLength;new Uint8Array(a,l,d).set(h),l+=d}return new Uint8Array(a,0,n)}}else return i instanceof Blob?new Uint8Array(await i.arrayBuffer()):i instanceof Uint8Array?i:new Uint8Array(i)}}),Um,Ad,Rd,Zr,Om,cd,Vc,Cd,Pd,ud,Id,Ld,Dd,vg=Vt(()=>{"use strict";ts(),HT(),WT(),gg(),na(),wd(),_g(),Um=(i,e)=>{hn()._OrtInit(i,e)!==0&&nn("Can't initialize onnxruntime.")},Ad=async i=>{Um(i.wasm.numThreads,pg(i.logLevel))},Rd=async(i,e)=>{hn().asyncInit?.();let t=i.webgpu.adapter;if(e==="webgpu"){if(typeof navigator>"u"||!navigator.gpu)throw new Error("WebGPU is not supported in current environment");if(t){if(typeof t.limits!="object"||typeof t.features!="object"||typeof t.requestDevice!="function")throw new Error("Invalid GPU adapter set in `env.webgpu.adapter`. It must be a GPUAdapter object.")}else{let n=i.webgpu.powerPreference;if(n!==void 0&&n!=="low-power"&&n!=="high-performance")throw new Error(`Invalid powerPreference setting: "${n}"`);let r=i.webgpu.forceFallbackAdapter;if(r!==void 0&&typeof r!="boolean")throw new Error(`Invalid forceFallbackAdapter setting: "${r}"`);if(t=await navigator.gpu.requestAdapter({powerPreference:n,forceFallbackAdapter:r}),!t)throw new Error('Failed to get GPU adapter. You may need to enable flag "--enable-unsafe-webgpu" if you are using Chrome.')}}if(e==="webnn"&&(typeof navigator>"u"||!navigator.ml))throw new Error("WebNN is not supported in current environment")},Zr=new Map,Om=i=>{let e=hn(),t=e.stackSave();try{let n=e.PTR_SIZE,r=e.stackAlloc(2*n);e._OrtGetInputOutputCount(i,r,r+n)!==0&&nn("Can't get session input/output count.");let a=n===4?"i32":"i64";return[Number(e.getValue(r,a)),Number(e.getValue(r+n,a))]}finally{e.stackRestore(t)}},cd=(i,e)=>{let t=hn(),n=t.stackSave(),r=0;try{let a=t.PTR_SIZE,l=t.stackAlloc(2*a);t._OrtGetInputOutputMetadata(i,e,l,l+a)!==0&&nn("Can't get session input/output metadata.");let c=Number(t.getValue(l,"*"));r=Number(t.getValue(l+a,"*"));let h=t.HEAP32[r/4];if(h===0)return[c,0];let d=t.HEAPU32[r/4+1],p=[];for(let m=0;m<d;m++){let g=Number(t.getValue(r+8+m*a,"*"));p.push(g!==0?t.UTF8ToString(g):Number(t.getValue(r+8+(m+d)*a,"*")))}return[c,h,p]}finally{t.stackRestore(n),r!==0&&t._OrtFree(r)}},Vc=i=>{let e=hn(),t=e._malloc(i.byteLength);if(t===0)throw new Error(`Can't create a session. failed to allocate a buffer of size ${i.byteLength}.`);return e.HEAPU8.set(i,t),[t,i.byteLength]},Cd=async(i,e)=>{let t,n,r=hn();Array.isArray(i)?[t,n]=i:i.buffer===r.HEAPU8.buffer?[t,n]=[i.byteOffset,i.byteLength]:[t,n]=Vc(i);let a=0,l=0,c=0,h=[],d=[],p=[];try{if([l,h]=await dg(e),e?.externalData&&r.mountExternalData){let U=[];for(let F of e.externalData){let k=typeof F=="string"?F:F.path,L=typeof F=="string"?F:F.data;U.push(Td(L).then(E=>{r.mountExternalData(k,E)}))}await Promise.all(U)}for(let U of e?.executionProviders??[])if((typeof U=="string"?U:U.name)==="webnn"){if(r.shouldTransferToMLTensor=!1,typeof U!="string"){let F=U,k=F?.context,L=F?.gpuDevice,E=F?.deviceType,N=F?.powerPreference;k?r.currentContext=k:L?r.currentContext=await r.webnnCreateMLContext(L):r.currentContext=await r.webnnCreateMLContext({deviceType:E,powerPreference:N})}else r.currentContext=await r.webnnCreateMLContext();break}a=await r._OrtCreateSession(t,n,l),r.webgpuOnCreateSession?.(a),a===0&&nn("Can't create a session."),r.jsepOnCreateSession?.(),r.currentContext&&(r.webnnRegisterMLContext(a,r.currentContext),r.currentContext=void 0,r.shouldTransferToMLTensor=!0);let[m,g]=Om(a),v=!!e?.enableGraphCapture,w=[],C=[],b=[],y=[],D=[];for(let U=0;U<m;U++){let[F,k,L]=cd(a,U);F===0&&nn("Can't get an input name."),d.push(F);let E=r.UTF8ToString(F);w.push(E),b.push(k===0?{name:E,isTensor:!1}:{name:E,isTensor:!0,type:kc(k),shape:L})}for(let U=0;U<g;U++){let[F,k,L]=cd(a,U+m);F===0&&nn("Can't get an output name."),p.push(F);let E=r.UTF8ToString(F);C.push(E),y.push(k===0?{name:E,isTensor:!1}:{name:E,isTensor:!0,type:kc(k),shape:L})}return Zr.set(a,[a,d,p,null,v,!1]),[a,w,C,b,y]}catch(m){throw d.forEach(g=>r._OrtFree(g)),p.forEach(g=>r._OrtFree(g)),c!==0&&r._OrtReleaseBinding(c)!==0&&nn("Can't release IO binding."),a!==0&&r._OrtReleaseSession(a)!==0&&nn("Can't release session."),m}finally{r._free(t),l!==0&&r._OrtReleaseSessionOptions(l)!==0&&nn("Can't release session options."),h.forEach(m=>r._free(m)),r.unmountExternalData?.()}},Pd=i=>{let e=hn(),t=Zr.get(i);if(!t)throw new Error(`cannot release session. invalid session id: ${i}`);let[n,r,a,l,c]=t;l&&(c&&e._OrtClearBoundOutputs(l.handle)!==0&&nn("Can't clear bound outputs."),e._OrtReleaseBinding(l.handle)!==0&&nn("Can't release IO binding.")),e.jsepOnReleaseSession?.(i),e.webnnOnReleaseSession?.(i),e.webgpuOnReleaseSession?.(i),r.forEach(h=>e._OrtFree(h)),a.forEach(h=>e._OrtFree(h)),e._OrtReleaseSession(n)!==0&&nn("Can't release session."),Zr.delete(i)},ud=async(i,e,t,n,r,a,l=!1)=>{if(!i){e.push(0);return}let c=hn(),h=c.PTR_SIZE,d=i[0],p=i[1],m=i[3],g=m,v,w;if(d==="string"&&(m==="gpu-buffer"||m==="ml-tensor"))throw new Error("String tensor is not supported on GPU.");if(l&&m!=="gpu-buffer")throw new Error(`External buffer must be provided for input/output index ${a} when enableGraphCapture is true.`);if(m==="gpu-buffer"){let y=i[2].gpuBuffer;w=Zs(Js(d),p);{let D=c.jsepRegisterBuffer;if(!D)throw new Error('Tensor location "gpu-buffer" is not supported without using WebGPU.');v=D(n,a,y,w)}}else if(m==="ml-tensor"){let y=i[2].mlTensor;w=Zs(Js(d),p);let D=c.webnnRegisterMLTensor;if(!D)throw new Error('Tensor location "ml-tensor" is not supported without using WebNN.');v=D(n,y,Js(d),p)}else{let y=i[2];if(Array.isArray(y)){w=h*y.length,v=c._malloc(w),t.push(v);for(let D=0;D<y.length;D++){if(typeof y[D]!="string")throw new TypeError(`tensor data at index ${D} is not a string`);c.setValue(v+D*h,Ri(y[D],t),"*")}}else{let D=c.webnnIsGraphInput,U=c.webnnIsGraphOutput;if(d!=="string"&&D&&U){let F=c.UTF8ToString(r);if(D(n,F)||U(n,F)){let k=Js(d);w=Zs(k,p),g="ml-tensor";let L=c.webnnCreateTemporaryTensor,E=c.webnnUploadTensor;if(!L||!E)throw new Error('Tensor location "ml-tensor" is not supported without using WebNN.');let N=await L(n,k,p);E(N,new Uint8Array(y.buffer,y.byteOffset,y.byteLength)),v=N}else w=y.byteLength,v=c._malloc(w),t.push(v),c.HEAPU8.set(new Uint8Array(y.buffer,y.byteOffset,w),v)}else w=y.byteLength,v=c._malloc(w),t.push(v),c.HEAPU8.set(new Uint8Array(y.buffer,y.byteOffset,w),v)}}let C=c.stackSave(),b=c.stackAlloc(4*p.length);try{p.forEach((D,U)=>c.setValue(b+U*h,D,h===4?"i32":"i64"));let y=c._OrtCreateTensor(Js(d),v,w,b,p.length,mg(g));y===0&&nn(`Can't create tensor for input/output. session=${n}, index=${a}.`),e.push(y)}finally{c.stackRestore(C)}},Id=async(i,e,t,n,r,a)=>{let l=hn(),c=l.PTR_SIZE,h=Zr.get(i);if(!h)throw new Error(`cannot run inference. invalid session id: ${i}`);let d=h[0],p=h[1],m=h[2],g=h[3],v=h[4],w=h[5],C=e.length,b=n.length,y=0,D=[],U=[],F=[],k=[],L=[],E=l.stackSave(),N=l.stackAlloc(C*c),J=l.stackAlloc(C*c),V=l.stackAlloc(b*c),ee=l.stackAlloc(b*c);try{[y,D]=hg(a),ea("wasm prepareInputOutputTensor");for(let te=0;te<C;te++)await ud(t[te],U,k,i,p[e[te]],e[te],v);for(let te=0;te<b;te++)await ud(r[te],F,k,i,m[n[te]],C+n[te],v);ta("wasm prepareInputOutputTensor");for(let te=0;te<C;te++)l.setValue(N+te*c,U[te],"*"),l.setValue(J+te*c,p[e[te]],"*");for(let te=0;te<b;te++)l.setValue(V+te*c,F[te],"*"),l.setValue(ee+te*c,m[n[te]],"*");l.jsepOnRunStart?.(d),l.webnnOnRunStart?.(d);let q;q=await l._OrtRun(d,J,N,C,ee,b,V,y),q!==0&&nn("failed to call OrtRun().");let ne=[],X=[];ea("wasm ProcessOutputTensor");for(let te=0;te<b;te++){let H=Number(l.getValue(V+te*c,"*"));if(H===F[te]||L.includes(F[te])){ne.push(r[te]),H!==F[te]&&l._OrtReleaseTensor(H)!==0&&nn("Can't release tensor.");continue}let le=l.stackSave(),be=l.stackAlloc(4*c),ue=!1,$,ye=0;try{l._OrtGetTensorData(H,be,be+c,be+2*c,be+3*c)!==0&&nn(`Can't access output tensor data on index ${te}.`);let qe=c===4?"i32":"i64",at=Number(l.getValue(be,qe));ye=l.getValue(be+c,"*");let fe=l.getValue(be+c*2,"*"),He=Number(l.getValue(be+c*3,qe)),Ie=[];for(let Ke=0;Ke<He;Ke++)Ie.push(Number(l.getValue(fe+Ke*c,qe)));l._OrtFree(fe)!==0&&nn("Can't free memory for tensor dims.");let Qe=Ie.reduce((Ke,ct)=>Ke*ct,1);$=kc(at);let Ue=g?.outputPreferredLocations[n[te]];if($==="string"){if(Ue==="gpu-buffer"||Ue==="ml-tensor")throw new Error("String tensor is not supported on GPU.");let Ke=[];for(let ct=0;ct<Qe;ct++){let Oe=l.getValue(ye+ct*c,"*"),Dt=l.getValue(ye+(ct+1)*c,"*"),Bt=ct===Qe-1?void 0:Dt-Oe;Ke.push(l.UTF8ToString(Oe,Bt))}ne.push([$,Ie,Ke,"cpu"])}else if(Ue==="gpu-buffer"&&Qe>0){let Ke=l.jsepGetBuffer;if(!Ke)throw new Error('preferredLocation "gpu-buffer" is not supported without using WebGPU.');let ct=Ke(ye),Oe=Zs(at,Qe);if(Oe===void 0||!Md($))throw new Error(`Unsupported data type: ${$}`);ue=!0,ne.push([$,Ie,{gpuBuffer:ct,download:l.jsepCreateDownloader(ct,Oe,$),dispose:()=>{l._OrtReleaseTensor(H)!==0&&nn("Can't release tensor.")}},"gpu-buffer"])}else if(Ue==="ml-tensor"&&Qe>0){let Ke=l.webnnEnsureTensor,ct=l.webnnIsGraphInputOutputTypeSupported;if(!Ke||!ct)throw new Error('preferredLocation "ml-tensor" is not supported without using WebNN.');if(Zs(at,Qe)===void 0||!Ed($))throw new Error(`Unsupported data type: ${$}`);if(!ct(i,$,!1))throw new Error(`preferredLocation "ml-tensor" for ${$} output is not supported by current WebNN Context.`);let Oe=await Ke(i,ye,at,Ie,!1);ue=!0,ne.push([$,Ie,{mlTensor:Oe,download:l.webnnCreateMLTensorDownloader(ye,$),dispose:()=>{l.webnnReleaseTensorId(ye),l._OrtReleaseTensor(H)}},"ml-tensor"])}else if(Ue==="ml-tensor-cpu-output"&&Qe>0){let Ke=l.webnnCreateMLTensorDownloader(ye,$)(),ct=ne.length;ue=!0,X.push((async()=>{let Oe=[ct,await Ke];return l.webnnReleaseTensorId(ye),l._OrtReleaseTensor(H),Oe})()),ne.push([$,Ie,[],"cpu"])}else{let Ke=fg($),ct=new Ke(Qe);new Uint8Array(ct.buffer,ct.byteOffset,ct.byteLength).set(l.HEAPU8.subarray(ye,ye+ct.byteLength)),ne.push([$,Ie,ct,"cpu"])}}finally{l.stackRestore(le),$==="string"&&ye&&l._free(ye),ue||l._OrtReleaseTensor(H)}}g&&!v&&(l._OrtClearBoundOutputs(g.handle)!==0&&nn("Can't clear bound outputs."),Zr.set(i,[d,p,m,g,v,!1]));for(let[te,H]of await Promise.all(X))ne[te][2]=H;return ta("wasm ProcessOutputTensor"),ne}finally{l.webnnOnRunEnd?.(d),l.stackRestore(E),U.forEach(q=>l._OrtReleaseTensor(q)),F.forEach(q=>l._OrtReleaseTensor(q)),k.forEach(q=>l._free(q)),y!==0&&l._OrtReleaseRunOptions(y),D.forEach(q=>l._free(q))}},Ld=i=>{let e=hn(),t=Zr.get(i);if(!t)throw new Error("invalid session id");let n=t[0],r=e._OrtEndProfiling(n);r===0&&nn("Can't get an profile file name."),e._OrtFree(r)},Dd=i=>{let e=[];for(let t of i){let n=t[2];!Array.isArray(n)&&"buffer"in n&&e.push(n.buffer)}return e}}),Ir,gi,Ys,uo,ho,Oc,hd,Bc,Kr,Qr,Bm,yg,xg,bg,Sg,wg,Mg,Eg,Tg=Vt(()=>{"use strict";ts(),vg(),na(),bd(),Ir=()=>!!an.wasm.proxy&&typeof document<"u",Ys=!1,uo=!1,ho=!1,Bc=new Map,Kr=(i,e)=>{let t=Bc.get(i);t?t.push(e):Bc.set(i,[e])},Qr=()=>{if(Ys||!uo||ho||!gi)throw new Error("worker not ready")},Bm=i=>{switch(i.data.type){case"init-wasm":Ys=!1,i.data.err?(ho=!0,hd[1](i.data.err)):(uo=!0,hd[0]()),Oc&&(URL.revokeObjectURL(Oc),Oc=void 0);break;case"init-ep":case"copy-from":case"create":case"release":case"run":case"end-profiling":{let e=Bc.get(i.data.type);i.data.err?e.shift()[1](i.data.err):e.shift()[0](i.data.out);break}default:}},yg=async()=>{if(!uo){if(Ys)throw new Error("multiple calls to 'initWasm()' detected.");if(ho)throw new Error("previous call to 'initWasm()' failed.");if(Ys=!0,Ir())return new Promise((i,e)=>{gi?.terminate(),cg().then(([t,n])=>{try{gi=n,gi.onerror=a=>e(a),gi.onmessage=Bm,hd=[i,e];let r={type:"init-wasm",in:an};!r.in.wasm.wasmPaths&&(t||md)&&(r.in.wasm.wasmPaths={wasm:new URL("ort-wasm-simd-threaded.wasm",document.baseURI).href}),gi.postMessage(r),Oc=t}catch(r){e(r)}},e)});try{await Sd(an.wasm),await Ad(an),uo=!0}catch(i){throw ho=!0,i}finally{Ys=!1}}},xg=async i=>{if(Ir())return Qr(),new Promise((e,t)=>{Kr("init-ep",[e,t]);let n={type:"init-ep",in:{epName:i,env:an}};gi.postMessage(n)});await Rd(an,i)},bg=async i=>Ir()?(Qr(),new Promise((e,t)=>{Kr("copy-from",[e,t]);let n={type:"copy-from",in:{buffer:i}};gi.postMessage(n,[i.buffer])})):Vc(i),Sg=async(i,e)=>{if(Ir()){if(e?.preferredOutputLocation)throw new Error('session option "preferredOutputLocation" is not supported for proxy.');return Qr(),new Promise((t,n)=>{Kr("create",[t,n]);let r={type:"create",in:{model:i,options:{...e}}},a=[];i instanceof Uint8Array&&a.push(i.buffer),gi.postMessage(r,a)})}else return Cd(i,e)},wg=async i=>{if(Ir())return Qr(),new Promise((e,t)=>{Kr("release",[e,t]);let n={type:"release",in:i};gi.postMessage(n)});Pd(i)},Mg=async(i,e,t,n,r,a)=>{if(Ir()){if(t.some(l=>l[3]!=="cpu"))throw new Error("input tensor on GPU is not supported for proxy.");if(r.some(l=>l))throw new Error("pre-allocated output tensor is not supported for proxy.");return Qr(),new Promise((l,c)=>{Kr("run",[l,c]);let h=t,d={type:"run",in:{sessionId:i,inputIndices:e,inputs:h,outputIndices:n,options:a}};gi.postMessage(d,Dd(h))})}else return Id(i,e,t,n,r,a)},Eg=async i=>{if(Ir())return Qr(),new Promise((e,t)=>{Kr("end-profiling",[e,t]);let n={type:"end-profiling",in:i};gi.postMessage(n)});Ld(i)}}),dd,km,Ag,$T=Vt(()=>{"use strict";ts(),Tg(),gg(),xd(),_g(),dd=(i,e)=>{switch(i.location){case"cpu":return[i.type,i.dims,i.data,"cpu"];case"gpu-buffer":return[i.type,i.dims,{gpuBuffer:i.gpuBuffer},"gpu-buffer"];case"ml-tensor":return[i.type,i.dims,{mlTensor:i.mlTensor},"ml-tensor"];default:throw new Error(`invalid data location: ${i.location} for ${e()}`)}},km=i=>{switch(i[3]){case"cpu":return new oi(i[0],i[2],i[1]);case"gpu-buffer":{let e=i[0];if(!Md(e))throw new Error(`not supported data type: ${e} for deserializing GPU tensor`);let{gpuBuffer:t,download:n,dispose:r}=i[2];return oi.fromGpuBuffer(t,{dataType:e,dims:i[1],download:n,dispose:r})}case"ml-tensor":{let e=i[0];if(!Ed(e))throw new Error(`not supported data type: ${e} for deserializing MLTensor tensor`);let{mlTensor:t,download:n,dispose:r}=i[2];return oi.fromMLTensor(t,{dataType:e,dims:i[1],download:n,dispose:r})}default:throw new Error(`invalid data location: ${i[3]}`)}},Ag=class{async fetchModelAndCopyToWasmMemory(i){return bg(await Td(i))}async loadModel(i,e){Ks();let t;typeof i=="string"?t=await this.fetchModelAndCopyToWasmMemory(i):t=i,[this.sessionId,this.inputNames,this.outputNames,this.inputMetadata,this.outputMetadata]=await Sg(t,e),Qs()}async dispose(){return wg(this.sessionId)}async run(i,e,t){Ks();let n=[],r=[];Object.entries(i).forEach(m=>{let g=m[0],v=m[1],w=this.inputNames.indexOf(g);if(w===-1)throw new Error(`invalid input '${g}'`);n.push(v),r.push(w)});let a=[],l=[];Object.entries(e).forEach(m=>{let g=m[0],v=m[1],w=this.outputNames.indexOf(g);if(w===-1)throw new Error(`invalid output '${g}'`);a.push(v),l.push(w)});let c=n.map((m,g)=>dd(m,()=>`input "${this.inputNames[r[g]]}"`)),h=a.map((m,g)=>m?dd(m,()=>`output "${this.outputNames[l[g]]}"`):null),d=await Mg(this.sessionId,r,c,l,h,t),p={};for(let m=0;m<d.length;m++)p[this.outputNames[l[m]]]=a[m]??km(d[m]);return Qs(),p}startProfiling(){}endProfiling(){Eg(this.sessionId)}}}),Rg={};Hc(Rg,{OnnxruntimeWebAssemblyBackend:()=>_d,initializeFlags:()=>gd,wasmBackend:()=>Cg});var gd,_d,Cg,XT=Vt(()=>{"use strict";ts(),Tg(),$T(),gd=()=>{(typeof an.wasm.initTimeout!="number"||an.wasm.initTimeout<0)&&(an.wasm.initTimeout=0);let i=an.wasm.simd;if(typeof i!="boolean"&&i!==void 0&&i!=="fixed"&&i!=="relaxed"&&(console.warn(`Property "env.wasm.simd" is set to unknown value "${i}". Reset it to \`false\` and ignore SIMD feature checking.`),an.wasm.simd=!1),typeof an.wasm.proxy!="boolean"&&(an.wasm.proxy=!1),typeof an.wasm.trace!="boolean"&&(an.wasm.trace=!1),typeof an.wasm.numThreads!="number"||!Number.isInteger(an.wasm.numThreads)||an.wasm.numThreads<=0)if(typeof self<"u"&&!self.crossOriginIsolated)an.wasm.numThreads=1;else{let e=typeof navigator>"u"?ET("node:os").cpus().length:navigator.hardwareConcurrency;an.wasm.numThreads=Math.min(4,Math.ceil((e||1)/2))}},_d=class{async init(i){gd(),await yg(),await xg(i)}async createInferenceSessionHandler(i,e){let t=new Ag;return await t.loadModel(i,e),t}},Cg=new _d});ts();ts();ts();var qT="1.30.0";{let i=(XT(),fd(Rg)).wasmBackend;zc("cpu",i,10),zc("wasm",i,10)}Object.defineProperty(an.versions,"web",{value:qT,enumerable:!0});function Pg(){let i=Object.entries({"WebAssembly with SIMD":typeof WebAssembly=="object"&&WebAssembly.validate(jT),DecompressionStream:typeof DecompressionStream=="function","WebGL 2":document.createElement("canvas").getContext("webgl2")!==null}).filter(([,e])=>!e).map(([e])=>e);if(i.length>0)throw new sn(`This browser lacks ${i.join(" and ")}. Chrome 91, Firefox 113, Safari 16.4 and newer have them.`)}var jT=Uint8Array.from([0,97,115,109,1,0,0,0,1,5,1,96,0,1,123,3,2,1,0,10,10,1,8,0,65,0,253,15,253,98,11]);function $c(i){return oo(ao(i),"gzip")}async function Ig(i){let e=await $c(i.mujoco);return an.wasm.numThreads=1,an.wasm.wasmBinary=(await $c(i.onnxruntime)).buffer,an.logLevel="error",bm({wasmBinary:e})}var Xc=class{constructor(e,t,n,r){this.canvas=e;this.colors=t;this.low=n;this.high=r}canvas;colors;low;high;rows=[];add(e,t){let n=this.rows.at(-1);for(n!==void 0&&e<n.time&&(this.rows.length=0),this.rows.push({time:e,values:t});this.rows[0].time<e-10;)this.rows.shift()}draw(){let{canvas:e,rows:t,low:n,high:r}=this,a=Math.min(window.devicePixelRatio,2),[l,c]=[e.clientWidth*a,e.clientHeight*a];(e.width!==l||e.height!==c)&&([e.width,e.height]=[l,c]);let h=e.getContext("2d");h.clearRect(0,0,l,c);let d=t.at(-1)?.time??0,p=v=>l*(1-(d-v)/10),m=v=>{let w=Math.min(Math.max(v,n),r);return a+(c-2*a)*(1-(w-n)/(r-n))};h.strokeStyle="#8884",h.lineWidth=a,g([[0,m(0)],[l,m(0)]]),this.colors.forEach((v,w)=>{h.strokeStyle=v,h.lineWidth=1.5*a,g(t.map(({time:C,values:b})=>[p(C),m(b[w])]))});function g(v){h.beginPath(),v.forEach(([w,C])=>h.lineTo(w,C)),h.stroke()}}};var Lg="pd",Dg="time_step",YT={pos:"position",len:"position",pose:"position",vel:"velocity",effort:"effort"},po=class i{constructor(e,t){this.session=e;this.about=t;this.reset()}session;about;state={};static async of(e,t){return new i(await Ng(e),t)}reset(){this.state=Object.fromEntries(this.about.states.map(e=>[e.name,JT(e)]))}async call(e){let t={...this.state};for(let r of this.about.inputs){let a=e[r.name],l=r.shape.reduce((c,h)=>c*h,1);if(a?.length!==l)throw new sn(`${r.name} has ${a?.length} numbers, not ${l}.`);t[r.name]=new oi(Float32Array.from(a),r.shape)}let n=await this.session.run(t);return this.state=Object.fromEntries(this.about.states.map(({name:r,next:a})=>[r,n[a]])),Object.fromEntries(this.about.outputs.map(({name:r})=>[r,n[r].data]))}release(){return this.session.release()}},jc=class i extends po{constructor(t,n,r,a,l,c){super(t,c);this.controllers=n;this.world=r;this.rewards=a;this.record=l;this.contract=c,this.entity=c.entities[c.robot],this.dt=c.rates.control_dt}controllers;world;rewards;record;contract;entity;dt;static async load(t){let{contract:n}=t;for(let p of[...n.inputs,...n.states])if(p.dtype!=="float32")throw new sn(`${p.name} is ${p.dtype}; a page feeds float32.`);let r={};for(let p of n.actions)if(p.tracked_by){let m=t.model(p.tracked_by.model);r[p.name]=await po.of(m,p.tracked_by)}let a=async p=>p?po.of(t.model(p.model),p):null,[l,c]=[await a(n.world),await a(n.rewards)],h=await t.record(),d=await Ng(t.content);return new i(d,r,l,c,h,n)}reset(){super.reset(),Object.values(this.controllers??{}).forEach(t=>t.reset()),this.world?.reset(),this.rewards?.reset()}clock(t){if(this.contract.motion===void 0)return{};let n=this.record[`command ${Dg}`][0],a=this.contract.motion.clips.map(l=>l.first+l.frames-1).find(l=>l>=n);return{[Dg]:Float32Array.of(Math.min(n+t,a))}}async release(){await Promise.all(Object.values(this.controllers).map(t=>t.release())),await this.world?.release(),await this.rewards?.release(),await super.release()}};async function Ng(i){try{return await Wc.create(i)}catch(e){throw new sn(`The network cannot be loaded: ${Jc(e)}`)}}function JT(i){let e=new Float32Array(i.shape.reduce((t,n)=>t*n,1));return typeof i.initial=="number"?e.fill(i.initial):e.set(i.initial),new oi(e,i.shape)}function Jc(i){return(i instanceof Error?i.message:String(i)).trim().replace(/\s+/g," ")}var Yc=class i{constructor(e,t,n){this.mujoco=e;this.contract=t.contract,this.entity=t.entity,this.world=t.world,this.evaluated=t.rewards,this.model=n,this.data=new e.MjData(n),this.velocity=e.DoubleBuffer.FromArray(new Float64Array(6)),this.constraint=new Float64Array(n.nv);for(let r of this.entity.actuators)this.addControl(r);for(let r of this.contract.actions)r.reach&&(this.reaches[r.output]=new Bd(this,this.entity.prefix,r,r.reach));this.muscles=Object.values(t.controllers).map(r=>{let[a]=r.about.outputs,l=a.elements.map(c=>this.controls[`${c} effort`]);return{controller:r,output:a.name,places:l}})}mujoco;model;data;given={};rewards={};world;evaluated;told={};contract;entity;ids=new Map;controls={};servos={};reaches={};muscles;constraint;velocity;targets={};static async of(e,t,n){return new i(e,t,KT(e,await n.scene(),n.name))}find(e,t){let n=`${e} ${t}`;if(!this.ids.has(n)){let{mujoco:r,model:a,entity:l}=this,c=t.startsWith(l.prefix)?t.slice(l.prefix.length):t,h=ZT(r)[e],d=[t,c].map(p=>r.mj_name2id(a,h,p));if(Math.max(...d)<0)throw new sn(`The model has no ${e} '${t}'.`);this.ids.set(n,d[0]>=0?d[0]:d[1])}return this.ids.get(n)}joint(e){let t=this.find("joint",e);return[this.model.jnt_qposadr[t],this.model.jnt_dofadr[t]]}start(e,t){this.mujoco.mj_resetData(this.model,this.data),this.constraint.fill(0),this.targets=this.rewards={};let n=this.data.ctrl;for(let{name:r,default_pos:a}of this.entity.joints){let l=this.controls[`${r} position`];this.servos[r]?this.servos[r].asked={position:a,velocity:0,effort:0}:l!==void 0&&(n[l]=a)}this.place(e,t)}place(e,t){if(e.length!==this.model.nq||t.length!==this.model.nv)throw new sn(`The model has ${this.model.nq} coordinates, but the state has ${e.length}.`);this.data.qpos.set(e),this.data.qvel.set(t),this.mujoco.mj_forward(this.model,this.data)}async read(e){if(this.told={...e},this.world===null)return this.measure(this.contract.inputs,e,this.given);let t=this.world.about.inputs.map(({name:r})=>[r,this.data[r]]);for(let[r,{data:a}]of Object.entries(this.world.state))this.told[r]=a;let n=await this.world.call(Object.fromEntries(t));return Object.assign(this.told,n),this.measure(this.contract.inputs,{...e,...n},{...this.given,...n})}write(e){this.targets=e}async wait(){let e=this.data.qpos.slice(),t=Object.keys(this.targets).length>0;for(let[n,r]of Object.entries(t?this.reaches:{}))r.aim(this.targets[n]);for(let n=0;n<this.contract.rates.decimation;n++){for(let r of t?this.contract.actions:[])r.tracked_by||this.send(r,e);Object.values(this.servos).forEach(r=>r.pull(this.data)),await this.step()}await this.evaluate(),this.mujoco.mj_forward(this.model,this.data)}async evaluate(){let{action:e}=this.targets;if(this.evaluated!==null&&e!==void 0){let t={...this.told,action:e},n=this.evaluated.about.inputs.map(({name:r})=>[r,t[r]??this.data[r]]);this.rewards=await this.evaluated.call(Object.fromEntries(n))}}upright(){let{is_fixed:e,frame:t}=this.entity.root;return e?1:this.data.xmat[9*this.find("body",t)+8]}bodyVelocity(e){let{mujoco:t,model:n,data:r,velocity:a}=this,l=t.mjtObj.mjOBJ_XBODY.value;t.mj_objectVelocity(n,r,l,e,a,1);let c=a.GetView().slice();return{angular:c.subarray(0,3),linear:c.subarray(3)}}release(){Object.values(this.reaches).forEach(e=>e.release()),this.velocity.delete(),this.data.delete(),this.model.delete()}addControl(e){if(e.law!==null&&e.law!==Lg)throw new sn(`The actuator of ${e.target} uses ${e.law}, which plain MuJoCo does not support.`);if(e.commands.length!==1&&e.law===null)throw new sn(`The actuator of ${e.target} has the inputs ${e.commands.join(", ")}; MuJoCo 3.14 supports one.`);let t=this.find("actuator",e.actuator);for(let n of e.commands)this.controls[`${e.target} ${n}`]=t;if(e.law===Lg){let n=this.joint(this.entity.prefix+e.target);this.servos[e.target]=new Od(e,t,n)}}send(e,t){let n=YT[e.quantity.slice(e.quantity.lastIndexOf("_")+1)],r=this.reaches[e.output],a=r?r.targets():this.targets[e.output],[l,c]=[this.data.ctrl,this.data.qpos];e.targets.forEach((h,d)=>{let p=a[d];if(e.relative_to){let[m]=this.joint(this.entity.prefix+h),g=e.relative_to.endsWith("physics step");p+=(g?c:t)[m]}this.servos[h]?this.servos[h].asked[n]=p:l[this.controls[`${h} ${n}`]]=p})}async step(){let{mujoco:e,model:t,data:n}=this;if(this.muscles.length===0){e.mj_step(t,n);return}e.mj_step1(t,n),n.qfrc_constraint.set(this.constraint);for(let{controller:r,output:a,places:l}of this.muscles)if(Object.keys(this.targets).length>0){let c=r.about.inputs,h=this.measure(c,{},this.targets),d=(await r.call(h))[a],p=n.ctrl;l.forEach((m,g)=>p[m]=d[g])}e.mj_step2(t,n),this.constraint.set(n.qfrc_constraint)}measure(e,t,n){return Object.fromEntries(e.map(r=>[r.name,this.reading(r,t,n)]))}reading(e,t,n){let{model:r,data:a}=this,l=e.measured;switch(l.kind){case"given":case"target":return Fg(n,e.name);case"command":case"clip_row":return Fg(t,l.command);case"mujoco":{let h=a[l.field];return Float64Array.from(l.columns,d=>h[d])}case"sensor":{let h=this.find("sensor",l.name),d=r.sensor_adr[h];return a.sensordata.slice(d,d+r.sensor_dim[h])}case"joint_pos":case"joint_vel":{let{prefix:h}=this.contract.entities[l.entity],d=l.kind==="joint_vel",p=d?a.qvel:a.qpos;return Float64Array.from(e.elements,m=>p[this.joint(h+m)[d?1:0]])}}let c=this.find("body",l.body);switch(l.kind){case"root_quat_w":case"body_quat":return a.xquat.slice(4*c,4*c+4);case"body_pos":return a.xpos.slice(3*c,3*c+3);case"root_lin_vel_b":return this.bodyVelocity(c).linear;case"root_ang_vel_b":return this.bodyVelocity(c).angular}throw new sn(`This page cannot measure ${l.kind}: export the policy again.`)}};function ZT(i){let e=i.mjtObj;return{actuator:e.mjOBJ_ACTUATOR.value,body:e.mjOBJ_BODY.value,geom:e.mjOBJ_GEOM.value,joint:e.mjOBJ_JOINT.value,sensor:e.mjOBJ_SENSOR.value,site:e.mjOBJ_SITE.value}}function KT(i,e,t){let n=new i.MjVFS;try{for(let[a,l]of e)n.addBuffer(a,l);let r=new TextDecoder().decode(e.get("scene.xml"));return i.MjModel.from_xml_string(r,n)}catch(r){throw new sn(`MuJoCo ${i.mj_versionString()} cannot load the model of ${t}: `+Jc(r))}finally{n.delete()}}function Fg(i,e){if(i[e]===void 0)throw new sn(`No reading for ${e}.`);return i[e]}var Od=class{constructor(e,t,n){this.gains=e;this.control=t;this.joint=n}gains;control;joint;asked={};pull(e){if(this.asked.position===void 0)return;let{stiffness:t,damping:n,effort_limit:r}=this.gains,a=this.asked.position-e.qpos[this.joint[0]],l=this.asked.velocity-e.qvel[this.joint[1]],c=t*a+n*l+this.asked.effort,h=r??1/0;e.ctrl[this.control]=Math.min(Math.max(c,-h),h)}},Bd=class{constructor(e,t,n,r){this.robot=e;this.how=r;let{mujoco:a,model:l}=e,[[c,h]]=Object.entries(r.frame);this.kind=c,this.id=e.find(c,h),this.body=c==="body"?this.id:l[`${c}_bodyid`][this.id],this.base=e.find("body",r.base);let d=n.targets.map(m=>e.joint(t+m));this.places=d.map(([m])=>m),this.dofs=d.map(([,m])=>m);let p=m=>a.DoubleBuffer.FromArray(new Float64Array(m));this.jacobians=[p(3*l.nv),p(3*l.nv)],this.three=p(3)}robot;how;kind;id;body;base;places;dofs;jacobians;three;seen=[];goal=[0,0,0];goalQuat=[1,0,0,0];release(){[...this.jacobians,this.three].forEach(e=>e.delete())}aim(e){let{how:t,base:n}=this,{data:r}=this.robot,[a,l]=this.pose(),c=t.command_frame==="base",h=c?[...r.xmat.subarray(9*n,9*n+9)]:[1,0,0,0,1,0,0,0,1],d=c?[...r.xpos.subarray(3*n,3*n+3)]:[0,0,0],p=Nd(h,[...e.subarray(0,3)]),m=e.length>3;if(t.is_relative){if(this.goal=Fd(a,p),m){let g=Nd(h,[...e.subarray(3)]);this.goalQuat=Ud(e1(g),l)}}else if(this.goal=Fd(d,p),m){let g=[...e.subarray(3)],v=Math.max(Math.hypot(...g),1e-9);if(this.goalQuat=g.map(w=>w/v),c){let w=[...r.xquat.subarray(4*n,4*n+4)];this.goalQuat=Ud(w,this.goalQuat)}}this.seen=this.joints()}targets(){let{how:e,seen:t}=this,n=e.limits.map(([d])=>d??-1/0),r=e.limits.map(([,d])=>d??1/0),a=(d,p)=>Math.min(Math.max(d,n[p]),r[p]),l=this.step(t.map(()=>!1),t.map(()=>0));for(let d=0;d<e.limit_rounds;d++){let p=Fd(t,l),m=p.map(a);l=this.step(m.map((g,v)=>g!==p[v]),m.map((g,v)=>g-t[v]))}let c=e.max_joint_step,h=c/Math.max(...l.map(Math.abs),c);return this.seen=this.joints(),Float64Array.from(t,(d,p)=>a(d+l[p]*h,p))}joints(){let e=this.robot.data.qpos;return this.places.map(t=>e[t])}step(e,t){let{how:n,seen:r}=this,{jacobian:a,error:l}=this.system(),c=t.map((v,w)=>e[w]?v:0),h=r.map((v,w)=>e[w]?0:n.posture_weight*(n.posture[w]-v)),d=a.map(v=>v.map((w,C)=>e[C]?0:w)),p=d.map((v,w)=>d.map((C,b)=>qc(v,C)+(w===b?n.damping**2:0))),m=l.map((v,w)=>v-qc(a[w],c)-qc(d[w],h)),g=t1(p,m);return r.map((v,w)=>d.reduce((C,b,y)=>C+b[w]*g[y],h[w])+c[w])}system(){let{robot:e,how:t}=this,{mujoco:n,model:r,data:a}=e,[l,c]=this.pose();n.mj_jac(r,a,...this.jacobians,l,this.body),n.mju_subQuat(this.three,this.goalQuat,c);let h=Nd(QT(c),[...this.three.GetView()]),d=[...l.map((v,w)=>this.goal[w]-v),...h],p=this.jacobians.flatMap(v=>{let w=v.GetView();return[0,1,2].map(C=>this.dofs.map(b=>w[C*r.nv+b]))}),m=t.position_only?3:6,g=v=>t.weights[v<3?0:1];return{jacobian:p.slice(0,m).map((v,w)=>v.map(C=>g(w)*C)),error:d.slice(0,m).map((v,w)=>g(w)*v)}}pose(){let{data:e,model:t}=this.robot,{kind:n,id:r,body:a}=this,l=[...e.xquat.subarray(4*a,4*a+4)];if(n==="body")return[[...e.xpos.subarray(3*r,3*r+3)],l];let c=e[`${n}_xpos`],h=t[`${n}_quat`];return[[...c.subarray(3*r,3*r+3)],Ud(l,[...h.subarray(4*r,4*r+4)])]}};function Fd(i,e){return i.map((t,n)=>t+e[n])}function qc(i,e){return i.reduce((t,n,r)=>t+n*e[r],0)}function Nd(i,e){return[0,1,2].map(t=>qc(i.slice(3*t,3*t+3),e))}function Ud([i,e,t,n],[r,a,l,c]){return[i*r-e*a-t*l-n*c,i*a+e*r+t*c-n*l,i*l-e*c+t*r+n*a,i*c+e*l-t*a+n*r]}function QT([i,e,t,n]){return[i*i+e*e-t*t-n*n,2*(e*t-i*n),2*(e*n+i*t),2*(e*t+i*n),i*i-e*e+t*t-n*n,2*(t*n-i*e),2*(e*n-i*t),2*(t*n+i*e),i*i-e*e-t*t+n*n]}function e1(i){let e=Math.hypot(...i),t=Math.max(e,1e-12),n=Math.sin(e/2);return[Math.cos(e/2),...i.map(r=>r/t*n)]}function t1(i,e){let t=i.map((a,l)=>[...a,e[l]]),n=t.length;for(let a=0;a<n;a++){let l=a;for(let c=a+1;c<n;c++)Math.abs(t[c][a])>Math.abs(t[l][a])&&(l=c);[t[a],t[l]]=[t[l],t[a]];for(let c=a+1;c<n;c++){let h=t[c][a]/t[a][a];for(let d=a;d<=n;d++)t[c][d]-=h*t[a][d]}}let r=new Array(n).fill(0);for(let a=n-1;a>=0;a--){let l=r.reduce((c,h,d)=>c+t[a][d]*h,0);r[a]=(t[a][n]-l)/t[a][a]}return r}var Zc=["ws","ad","qe"];var Kc=class{constructor(e){this.axes=e}axes;changed=()=>{};isPadHeld=!1;get values(){return this.axes.map(e=>e.value)}set(e,t){let n=this.axes[e];if(n!==void 0&&Number.isFinite(t)){let r=Math.round(t*1e3)/1e3;n.value=Math.min(Math.max(r,n.low),n.high),this.changed()}}take(e){e.split(",").forEach((t,n)=>this.set(n,Number.parseFloat(t)))}stop(){this.axes.forEach((e,t)=>e.isVelocity&&this.set(t,0))}press(e){if(e===" ")return this.stop(),!0;let t=Zc.findIndex(a=>a.includes(e.toLowerCase())),n=this.axes[t];if(e.length!==1||n===void 0)return!1;let r=Zc[t].indexOf(e.toLowerCase())===0?1:-1;return this.set(t,n.value+r*.05*(n.high-n.low)),!0}deflect(e,t){let n=this.axes[e];if(n!==void 0){let r=n.isVelocity?0:(n.high+n.low)/2,a=Math.min(Math.max(r,n.low),n.high),l=t>0?n.high-a:a-n.low;this.set(e,a+t*l)}}readGamepad(){let e=navigator.getGamepads?.().find(r=>r!==null);if(!e)return;let t=[e.axes[1],e.axes[0],e.axes[2]].map(r=>{let a=Math.max(0,Math.abs(r??0)-.12)/.88;return-Math.sign(r??0)*Math.min(a,1)}),n=t.some(r=>r!==0);(n||this.isPadHeld)&&t.forEach((r,a)=>this.deflect(a,r)),this.isPadHeld=n}};function kd(i,e){let t=i.firstElementChild,n=(a,l)=>{t.style.transform=`translate(${a*50}%, ${-l*50}%)`,e(a,l)},r=a=>{let l=i.getBoundingClientRect(),c=(a.clientX-l.x)/(l.width/2)-1,h=1-(a.clientY-l.y)/(l.height/2),d=Math.max(Math.hypot(c,h),1);n(c/d,h/d)};i.addEventListener("pointerdown",a=>{i.setPointerCapture(a.pointerId),r(a)}),i.addEventListener("pointermove",a=>{i.hasPointerCapture(a.pointerId)&&r(a)});for(let a of["pointerup","pointercancel"])i.addEventListener(a,()=>n(0,0))}var[n1,i1]=[12,20],[r1,Ug]=[.6,.1],[s1,a1]=[.4,.55],Qc=class i{constructor(e,t,n){this.file=e;this.policy=t;this.robot=n;let{contract:r}=t,a=n.find("body",t.entity.root.frame);this.root=n.model.body_rootid[a],this.mass=n.model.body_subtreemass[this.root],this.command=r.commands.find(({range:l})=>l!==null)??null,this.dial=r.world?.dials[0]??null,this.steering=new Kc(this.axes(r)),this.restart()}file;policy;robot;steps=0;grip=null;steering;feet=new Map;root;command;dial;mass;shove=null;com=[0,0,0];height=0;static async open(e,t){let n=await jc.load(t);return new i(t,n,await Yc.of(e,n,t))}get time(){return this.steps*this.policy.dt}restart(){let{record:e}=this.policy,{nq:t,nv:n}=this.robot.model;this.robot.given={};for(let{name:r,shape:a}of this.policy.contract.inputs){let l=a.reduce((c,h)=>c*h,1);this.robot.given[r]=e[`input ${r}`]?.subarray(0,l)}this.policy.reset(),this.robot.start(e.qpos.subarray(0,t),e.qvel.subarray(0,n)),this.steps=0,this.grip=this.shove=null,this.com=this.center(),this.height=this.com[2]}async step(){let e=this.policy.clock(this.steps);for(let{name:t,start:n}of this.policy.contract.commands)e[t]=Float32Array.from(n);this.dial!==null?this.policy.world.state[this.dial.state].data.set(this.steering.values):this.command?.range&&e[this.command.name].set(this.steering.values),this.robot.write(await this.policy.call(await this.robot.read(e))),this.applyForces(),this.com=this.center(),await this.robot.wait(),this.steps+=1,this.noteContacts()}get hasFallen(){let{axes:e}=this.steering,t=this.center()[2]<a1*this.height;return e.some(n=>n.isVelocity)&&(t||this.robot.upright()<s1)}get goal(){return this.dial?.is_point?this.steering.values:null}measured(){let{axes:e}=this.steering;if(!e.every(r=>r.isVelocity))return[];if(this.dial!==null)return[(this.center()[0]-this.com[0])/this.policy.dt];let{linear:t,angular:n}=this.robot.bodyVelocity(this.root);return[t[0],t[1],n[2]].slice(0,e.length)}center(){return[...this.robot.data.subtree_com.subarray(3*this.root,3*this.root+3)]}size(){let{model:e,data:t}=this.robot,[n,r,a]=this.center(),l=.3;for(let c=0;c<e.ngeom;c++)if(e.body_rootid[e.geom_bodyid[c]]===this.root){let h=t.geom_xpos.subarray(3*c,3*c+3);l=Math.max(l,Math.hypot(h[0]-n,h[1]-r,h[2]-a))}return l}push(e,t){let n=this.mass*r1/Ug/Math.hypot(e,t);this.shove={force:[e*n,t*n,0],left:Ug}}hold(e,t){let{data:n}=this.robot,r=t.map((c,h)=>c-n.xpos[3*e+h]),a=n.xmat.subarray(9*e,9*e+9),l=[0,1,2].map(c=>a[c]*r[0]+a[3+c]*r[1]+a[6+c]*r[2]);this.grip={body:e,local:l,to:t}}held(e){let{data:t}=this.robot,n=t.xmat.subarray(9*e.body,9*e.body+9);return[0,1,2].map(r=>t.xpos[3*e.body+r]+e.local.reduce((a,l,c)=>a+n[3*r+c]*l,0))}touching(){let{model:e,data:t}=this.robot,n=new Set,r=t.contact;for(let a=0;a<r.size();a++){let l=r.get(a),h=[e.geom_bodyid[l.geom1],e.geom_bodyid[l.geom2]].filter(d=>e.body_rootid[d]===this.root);h.length===1&&l.dist<.001&&n.add(h[0]),l.delete()}return r.delete(),n}async release(){await this.policy.release(),this.robot.release()}axes({world:e}){let{dial:t,command:n}=this,r=t?.range??n?.range??[],a=t?e.states.find(({name:l})=>l===t.state).initial:n?.start??[];return r.slice(0,zd.length).map(([l,c],h)=>({label:t?.labels[h]??zd[h][0],unit:t?.unit??zd[h][1],low:l,high:c,isVelocity:!t?.is_point,value:Math.min(Math.max(a[h],l),c)}))}noteContacts(){for(let e of this.touching())if(!this.feet.has(e)){let{mujoco:t,model:n}=this.robot,r=t.mj_id2name(n,t.mjtObj.mjOBJ_BODY.value,e);this.feet.set(e,r.slice(r.lastIndexOf("/")+1).replaceAll("_"," "))}}applyForces(){let{data:e}=this.robot,t=e.xfrc_applied;if(t.fill(0),this.shove!==null&&(t.set(this.shove.force,6*this.root),this.shove.left-=this.policy.dt,this.shove=this.shove.left>1e-9?this.shove:null),this.grip!==null){let{body:n,to:r}=this.grip,a=this.held(this.grip),l=r.map((m,g)=>n1*this.mass*(m-a[g])),c=Math.min(1,i1*this.mass/(Math.hypot(...l)||1)),h=l.map(m=>m*c),d=a.map((m,g)=>m-e.xipos[3*n+g]),p=[0,1,2].map(m=>{let[g,v]=[(m+1)%3,(m+2)%3];return d[g]*h[v]-d[v]*h[g]});t.set([...h,...p],6*n)}}},zd=[["Forward","m/s"],["Left","m/s"],["Turn left","rad/s"]];var o1=.25,l1=.06,[c1,u1]=[20,1.2],eu=[1,.5,.25,.1],h1=["#e07a1f","#2b6cb0"],d1=560,f1=2;function zt(i){return document.getElementById(i)}var Gd=class{constructor(e,t){this.mujoco=e;this.stage=t}mujoco;stage;session=null;isPaused=!1;speed=1;startSeconds=0;frames=0;figure=null;plots=[];files=[];behind=0;last=performance.now();lying=0;isBusy=!1;drawing={seconds:0,frames:0};pace={wall:0,simulated:0,shown:1};add(e,t){let n=Dc.read(e,t);this.files.push(n);let r=t.replace(/\.onnx$/,""),a=new Option(r,String(this.files.length-1));return zt("policy").add(a),this.files.length-1}named(e){return this.files.findIndex(t=>t.name===e)}async open(e,t=null){let n=await Qc.open(this.mujoco,this.files[e]),r=this.session;this.session=null,this.figure?.release(),await r?.release(),this.figure=new Lc(this.stage,this.mujoco,n.robot.model),this.stage.view(n.size(),n.center()),t!==null&&n.steering.take(t),zt("policy").value=String(e),this.session=n,this.buildPanel(n),this.writeLink(),Og("")}async next(){let e=this.session===null?-1:this.files.indexOf(this.session.file);await this.open((e+1)%this.files.length)}async frame(e){let t=Math.min((e-this.last)/1e3,1);if(this.last=e,!(this.isBusy||this.session===null)){this.isBusy=!0;try{this.session.steering.readGamepad(),this.isPaused||await this.advance(this.session,t),this.show(this.session,t),this.frames+=1,this.simplifyIfSlow(t-(performance.now()-e)/1e3)}finally{this.isBusy=!1}}}async advance(e,t){let n=e.time;for(this.behind=Math.min(this.behind+t*this.speed,o1);this.behind>=e.policy.dt&&this.session===e;)this.behind-=e.policy.dt,await e.step(),this.note(e),this.restartAfterFall(e);this.pace.wall+=t,this.pace.simulated+=Math.max(e.time-n,0),this.pace.wall>1&&(this.pace={wall:0,simulated:0,shown:this.pace.simulated/this.pace.wall})}simplifyIfSlow(e){this.drawing.seconds+=e,this.drawing.frames+=1;let{seconds:t,frames:n}=this.drawing;(n===c1||t>u1)&&(t>l1*n&&this.stage.simplify(),this.drawing={seconds:0,frames:0})}restartAfterFall(e){this.lying=e.hasFallen?this.lying+e.policy.dt:0,this.lying>f1&&(this.lying=0,e.restart())}note(e){let{values:t}=e.steering,n=e.measured();this.plots.forEach((r,a)=>r.add(e.time,[t[a],n[a]]))}show(e,t){let{figure:n,stage:r}=this;n.update(e.robot.data);let{grip:a}=e;n.push(a&&{from:e.held(a),to:a.to}),n.mark(e.goal===null?[]:[e.goal]),r.follow(e.center(),t),r.draw(),this.plots.forEach(l=>l.draw()),this.showReadings(e)}showReadings(e){let t=this.isPaused?"paused":e.hasFallen?"fell, restarts":`${this.pace.shown.toFixed(2)} x real time`;zt("state").textContent=`${e.time.toFixed(1)} s, ${t}`;let n=e.touching(),r=zt("feet");for(let[h,d]of e.feet){let p=r.querySelector(`[data-body="${h}"]`);p===null&&(p=document.createElement("span"),p.dataset.body=String(h),p.textContent=d,r.append(p)),p.classList.toggle("on",n.has(h))}zt("contacts").hidden=e.feet.size===0;let{model:a,data:l,rewards:c}=e.robot;zt("terms").querySelectorAll("output").forEach(h=>{let d=c[h.dataset.term]?.[0];h.textContent=d===void 0?"":(Math.round(1e3*d)/1e3+0).toFixed(3)}),zt("bars").querySelectorAll("i").forEach(h=>{let d=Zh(a,l,Number(h.dataset.muscle));h.style.width=`${Math.round(100*d)}%`})}pick(e,t){return this.figure?.pick(this.stage.ray(e,t))??null}buildPanel(e){let{axes:t}=e.steering;zt("axes").replaceChildren(...t.map((l,c)=>{let h=zt("axis").content.cloneNode(!0),[d,p,m]=["label","input","output"].map(g=>h.querySelector(g));return d.firstChild.textContent=`${l.label}, ${l.unit} `,d.querySelector("kbd").textContent=[...Zc[c]].join(" "),[p.min,p.max,p.step]=[l.low,l.high,.01].map(String),p.setAttribute("aria-label",`${l.label}, ${l.unit}`),p.addEventListener("input",()=>e.steering.set(c,Number(p.value))),m.dataset.place=p.dataset.place=String(c),h}));let n=[...zt("axes").querySelectorAll("canvas")],r=t.length>0&&e.goal===null;n.forEach(l=>l.hidden=!r),this.plots=t.slice(0,r?t.length:0).map(({low:l,high:c},h)=>{let d=.3*(c-Math.min(l,0));return new Xc(n[h],h1,Math.min(l,0)-d,c+d)}),zt("legend").hidden=!r,e.steering.changed=()=>{this.showCommand(e),this.writeLink()},this.showCommand(e),zt("feet").replaceChildren(),this.showConstantInputs(e),this.buildRewards(e),this.buildMuscles(e);let a=t.length>0;zt("left").hidden=!a,zt("right").hidden=t.length<3}showConstantInputs(e){let{inputs:t,world:n}=e.policy.contract,r=(n?.outputs??[]).map(({name:c})=>c),a=t.filter(({measured:c,name:h})=>c.kind==="given"&&!r.includes(h)).map(({name:c})=>c),l=zt("constant");l.hidden=a.length===0,l.textContent=`Not simulated, constant: ${a.join(", ")}`}buildRewards(e){let{rewards:t}=e.policy.contract;zt("rewards").hidden=t===void 0;let n=(t?.outputs??[]).map(({name:l})=>{let c=document.createElement("div");return c.innerHTML="<span></span><output></output>",c.querySelector("span").textContent=l,c.querySelector("output").dataset.term=l,c});zt("terms").replaceChildren(...n);let r=Object.entries(t?.held??{}),a=zt("held");a.hidden=r.length===0,a.textContent=`Not computed: ${r.map(([l])=>l).join(", ")}`,a.title=r.map(([l,c])=>`${l}: ${c}`).join(`
`)}buildMuscles(e){let{model:t}=e.robot,{mujoco:n}=this,r=[];for(let a=0;a<t.nu;a++)if(t.actuator_gaintype[a]===n.mjtGain.mjGAIN_MUSCLE.value){let l=n.mj_id2name(t,n.mjtObj.mjOBJ_ACTUATOR.value,a),c=document.createElement("div");c.innerHTML=`<span></span><b><i data-muscle="${a}"></i></b>`,c.firstElementChild.textContent=l.slice(l.lastIndexOf("/")+1),r.push(c)}zt("bars").replaceChildren(...r),zt("muscles").hidden=r.length===0}showCommand(e){e.steering.values.forEach((t,n)=>{let r=document.querySelector(`#axes input[data-place="${n}"]`);r.value=String(t),r.parentElement.querySelector("output").textContent=t.toFixed(2)})}writeLink(){if(this.session!==null){let e=encodeURIComponent(this.session.file.name),t=this.session.steering.values.join(","),n=t===""?"":`&command=${t}`;history.replaceState(null,"",`#policy=${e}${n}`)}}};function Og(i){let e=zt("message");e.textContent=i,e.hidden=i===""}function Vd(i){Og(Jc(i)),i instanceof sn||console.error(i)}function mo(i){i().catch(Vd)}function p1(i){for(let p of document.querySelectorAll("details"))p.open=window.innerWidth>d1;let e=()=>{i.isPaused=!i.isPaused,zt("pause").textContent=i.isPaused?"Play":"Pause",zt("pause").setAttribute("aria-pressed",String(i.isPaused))},t=zt("speed");t.append(...eu.map(p=>new Option(`${p} x`,String(p))));let n=p=>{i.speed=p,t.value=String(p)},r=()=>n(eu[(eu.indexOf(i.speed)+1)%eu.length]),a=zt("help"),l=()=>a.open?a.close():a.showModal(),c={ArrowUp:[1,0],ArrowDown:[-1,0],ArrowLeft:[0,1],ArrowRight:[0,-1]},h={p:e,r:()=>i.session?.restart(),m:r,n:()=>mo(()=>i.next()),h:l,"?":l};zt("pause").onclick=e,zt("reset").onclick=h.r,zt("ask").onclick=l,zt("push").onclick=()=>i.session?.push(0,Math.random()<.5?1:-1),t.onchange=()=>n(Number(t.value));let d=zt("policy");d.onchange=()=>{mo(()=>i.open(Number(d.value))),d.blur()},window.addEventListener("keydown",p=>{let{target:m,key:g}=p,v=m instanceof HTMLSelectElement||m instanceof HTMLInputElement;if(!(p.ctrlKey||p.metaKey||p.altKey||v&&g!=="Escape")&&!(m instanceof HTMLButtonElement&&(g===" "||g==="Enter"))){if(c[g])i.session?.push(...c[g]);else if(h[g.toLowerCase()])h[g.toLowerCase()]();else if(!i.session?.steering.press(g))return;p.preventDefault()}})}function m1(i){kd(zt("left"),(e,t)=>{let n=i.session?.steering;n?.deflect(0,t),n?.deflect(1,-e)}),kd(zt("right"),e=>i.session?.steering.deflect(2,-e))}function g1(i,e){let t=new Map,n=null;e.addEventListener("pointerdown",r=>{e.setPointerCapture(r.pointerId),t.set(r.pointerId,[r.clientX,r.clientY]);let a=t.size===1?i.pick(r.clientX,r.clientY):null;if(a!==null&&i.session!==null){i.session.hold(a.body,a.point.toArray());let l=i.stage.camera.getWorldDirection(new re);n=new ni().setFromNormalAndCoplanarPoint(l,a.point)}}),e.addEventListener("pointermove",r=>{let a=t.get(r.pointerId);if(a===void 0)return;let l=i.session?.grip;if(l&&n!==null){let{from:c,direction:h}=i.stage.ray(r.clientX,r.clientY),d=new br(c,h).intersectPlane(n,new re);l.to=d?.toArray()??l.to}else if(t.size===2){let[c]=[...t].filter(([d])=>d!==r.pointerId).map(([,d])=>d),h=d=>Math.hypot(d[0]-c[0],d[1]-c[1]);i.stage.zoom(h(a)/Math.max(h([r.clientX,r.clientY]),1))}else i.stage.turn(r.clientX-a[0],r.clientY-a[1]);t.set(r.pointerId,[r.clientX,r.clientY])});for(let r of["pointerup","pointercancel"])e.addEventListener(r,a=>{t.delete(a.pointerId),n=null,i.session!==null&&(i.session.grip=null)});e.addEventListener("wheel",r=>{r.preventDefault(),i.stage.zoom(Math.exp(r.deltaY*.001))},{passive:!1})}function _1(i){let e=async n=>{if(n!==void 0){let r=new Uint8Array(await n.arrayBuffer());await i.open(i.add(r,n.name))}},t=zt("file");zt("choose").onclick=()=>t.click(),t.onchange=()=>mo(()=>e(t.files?.[0])),window.addEventListener("dragover",n=>n.preventDefault()),window.addEventListener("drop",n=>{n.preventDefault(),mo(()=>e(n.dataTransfer?.files[0]))})}async function v1(){Pg();let i=zt("view"),e=new Gd(await Ig(mjlabParts),new Ic(i));Object.assign(globalThis,{mjlabPage:e}),p1(e),m1(e),g1(e,i),_1(e);for(let{name:r,content:a}of mjlabParts.policies)e.add(await $c(a),r);let t=async()=>{let r=new URLSearchParams(location.hash.slice(1)),a=e.named(r.get("policy"));if(r.has("policy")&&a<0)throw new sn(`This page has no policy '${r.get("policy")}'.`);await e.open(Math.max(a,0),r.get("command"))},n=r=>{e.frame(r).catch(Vd),requestAnimationFrame(n)};requestAnimationFrame(n),window.addEventListener("hashchange",()=>mo(t)),await t(),e.startSeconds=performance.now()/1e3}v1().catch(Vd);})();
