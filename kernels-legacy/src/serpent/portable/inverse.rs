//! The inverse S-boxes for where nothing runs beside one block: circuits of 17 to 19 operations in
//! which no result waits long for the words it depends on.
//!
//! They are the shortest that a search found among those that fit between inverse linear
//! transformations without delaying them: the first word comes one step earlier than the second and
//! the third, the last one step later. Operations that more others wait for stand first.

#[inline]
pub(super) fn i0([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = a ^ b;
    let f = a ^ c;
    let g = c ^ b;
    let h = !b;
    let i = f | g;
    let j = d ^ e;
    let k = c | h;
    let l = f & h;
    let m = i & j;
    let n = k ^ d;
    let o = h ^ l;
    let p = a | g;
    let q = l | j;
    let r = e | m;
    let s = l ^ n;
    let t = o ^ m;
    let u = p & q;
    let v = r ^ n;
    [t, u, s, v]
}

#[inline]
pub(super) fn i1([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = !a;
    let f = b ^ e;
    let g = b ^ c;
    let h = a & c;
    let i = b & c;
    let j = c | f;
    let k = g | h;
    let l = d ^ i;
    let m = j & d;
    let n = h | l;
    let o = f & e;
    let p = l & k;
    let q = m ^ k;
    let r = n ^ f;
    let s = a ^ g;
    let t = d | b;
    let u = o | p;
    let v = s ^ t;
    [u, q, r, v]
}

#[inline]
pub(super) fn i2([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = !c;
    let f = a ^ d;
    let g = a | d;
    let h = b ^ e;
    let i = b | d;
    let j = a | c;
    let k = c ^ d;
    let l = f | e;
    let m = g & h;
    let n = i ^ j;
    let o = k | b;
    let p = l ^ m;
    let q = n ^ m;
    let r = o ^ f;
    let s = j & !h;
    let t = l & !k;
    let u = s ^ t;
    [r, q, p, u]
}

#[inline]
pub(super) fn i3([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = !a;
    let f = a ^ c;
    let g = c ^ b;
    let h = c | b;
    let i = g | e;
    let j = d ^ h;
    let k = h ^ f;
    let l = h & !e;
    let m = d | g;
    let n = f & b;
    let o = i & j;
    let p = k | d;
    let q = l ^ m;
    let r = n | o;
    let s = p ^ g;
    let t = o ^ q;
    let u = p & !b;
    let v = u ^ q;
    [s, r, t, v]
}

#[inline]
pub(super) fn i4([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = !a;
    let f = e | b;
    let g = c ^ e;
    let h = b & e;
    let i = d & f;
    let j = c & d;
    let k = d | c;
    let l = g & f;
    let m = d | h;
    let n = i ^ b;
    let o = j | g;
    let p = f ^ j;
    let q = a | k;
    let r = l ^ m;
    let s = n ^ o;
    let t = h ^ i;
    let u = p & q;
    let v = k ^ t;
    [s, u, r, v]
}

#[inline]
pub(super) fn i5([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = b & a;
    let f = b ^ a;
    let g = e | c;
    let h = a & d;
    let i = !b;
    let j = d | e;
    let k = a ^ c;
    let l = f | c;
    let m = g ^ h;
    let n = b & j;
    let o = k | h;
    let p = i & k;
    let q = c ^ j;
    let r = l ^ j;
    let s = n ^ o;
    let t = p ^ q;
    let u = r ^ m;
    let v = m ^ i;
    [t, u, s, v]
}

#[inline]
pub(super) fn i6([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = !a;
    let f = e ^ b;
    let g = a | c;
    let h = f & g;
    let i = c ^ e;
    let j = d & b;
    let k = d | b;
    let l = h ^ d;
    let m = i | j;
    let n = g | f;
    let o = f | j;
    let p = k & c;
    let q = l ^ m;
    let r = n ^ l;
    let s = o ^ p;
    let t = c ^ n;
    let u = m & d;
    let v = t ^ u;
    [q, r, s, v]
}

#[inline]
pub(super) fn i7([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let e = !a;
    let f = e ^ b;
    let g = c & a;
    let h = d | b;
    let i = d & e;
    let j = b ^ c;
    let k = c | f;
    let l = g ^ h;
    let m = i | f;
    let n = c & h;
    let o = j & i;
    let p = k & !d;
    let q = j ^ g;
    let r = l & f;
    let s = c ^ d;
    let t = m ^ n;
    let u = o ^ l;
    let v = p ^ q;
    let w = r ^ s;
    [t, v, u, w]
}
