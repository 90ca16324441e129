//! The eight S-boxes as Boolean circuits, of 52 gates each on average.
//!
//! Found by a search that splits the truth tables of the four outputs by inputs, one output after
//! another, and shares whatever has been computed before. A gate is AND, OR, XOR, AND NOT, or NOT.
//! Inputs and outputs are bit planes, the most significant bit first.

use super::Word;

/// S1: 57 gates.
#[inline(always)]
pub(super) fn s1<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = c ^ f;
    let x1 = x0 & e;
    let x2 = d ^ x1;
    let x3 = x2 ^ c;
    let x4 = x3 | e;
    let x5 = !x3;
    let x6 = x5 & !f;
    let x7 = x4 ^ x6;
    let x8 = x7 & b;
    let x9 = x2 ^ x8;
    let x10 = d | x1;
    let x11 = x10 | f;
    let x12 = e & !x9;
    let x13 = c & !x6;
    let x14 = x12 ^ x13;
    let x15 = x14 & !b;
    let x16 = x11 ^ x15;
    let x17 = x16 & a;
    let x18 = x9 ^ x17;
    let x19 = x3 ^ b;
    let x20 = x18 & x0;
    let x21 = x19 | x20;
    let x22 = x19 & x17;
    let x23 = x22 ^ x3;
    let x24 = x23 & !e;
    let x25 = x21 ^ x24;
    let x26 = x4 ^ x5;
    let x27 = x26 & !x0;
    let x28 = d ^ f;
    let x29 = x28 & c;
    let x30 = x29 & b;
    let x31 = x27 ^ x30;
    let x32 = x31 & !a;
    let x33 = x25 ^ x32;
    let x34 = x19 ^ x28;
    let x35 = x34 & !x12;
    let x36 = x33 | x11;
    let x37 = x36 & !d;
    let x38 = x35 ^ x37;
    let x39 = f | x20;
    let x40 = x39 ^ x34;
    let x41 = x11 & !x24;
    let x42 = x41 ^ x30;
    let x43 = x42 & !e;
    let x44 = x40 ^ x43;
    let x45 = x44 & a;
    let x46 = x38 ^ x45;
    let x47 = x17 ^ x46;
    let x48 = x33 | x12;
    let x49 = x47 ^ x48;
    let x50 = x7 & !d;
    let x51 = x49 ^ x50;
    let x52 = x31 & !x21;
    let x53 = x4 ^ x14;
    let x54 = x52 ^ x53;
    let x55 = x54 & c;
    let x56 = x51 ^ x55;
    [x33, x56, x46, x18]
}

/// S2: 50 gates.
#[inline(always)]
pub(super) fn s2<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = d ^ e;
    let x1 = !x0;
    let x2 = a & !f;
    let x3 = x1 ^ x2;
    let x4 = f ^ a;
    let x5 = f & !e;
    let x6 = x4 | x5;
    let x7 = x6 & c;
    let x8 = x3 ^ x7;
    let x9 = e & !x3;
    let x10 = x9 | d;
    let x11 = c | x4;
    let x12 = x11 ^ e;
    let x13 = x12 & !a;
    let x14 = x10 ^ x13;
    let x15 = x14 & !b;
    let x16 = x8 ^ x15;
    let x17 = c ^ x8;
    let x18 = f & !x16;
    let x19 = x18 | x4;
    let x20 = x19 & b;
    let x21 = x17 ^ x20;
    let x22 = x6 & !x18;
    let x23 = x22 ^ x13;
    let x24 = x3 ^ c;
    let x25 = x24 | f;
    let x26 = x25 & b;
    let x27 = x23 ^ x26;
    let x28 = x27 & e;
    let x29 = x21 ^ x28;
    let x30 = x1 ^ a;
    let x31 = x28 ^ x10;
    let x32 = x31 & !f;
    let x33 = x32 & b;
    let x34 = x30 ^ x33;
    let x35 = x9 & x25;
    let x36 = x5 ^ b;
    let x37 = x35 ^ x36;
    let x38 = x37 & !c;
    let x39 = x34 ^ x38;
    let x40 = x25 & !x0;
    let x41 = x40 ^ x37;
    let x42 = x19 ^ x23;
    let x43 = x42 & !e;
    let x44 = x41 ^ x43;
    let x45 = x29 & !x32;
    let x46 = x13 ^ x30;
    let x47 = x45 ^ x46;
    let x48 = x47 & !c;
    let x49 = x44 ^ x48;
    [x16, x39, x49, x29]
}

/// S3: 53 gates.
#[inline(always)]
pub(super) fn s3<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = f ^ c;
    let x1 = f | d;
    let x2 = x1 & a;
    let x3 = x0 ^ x2;
    let x4 = c ^ d;
    let x5 = x4 | a;
    let x6 = x5 & !e;
    let x7 = x3 ^ x6;
    let x8 = d ^ x7;
    let x9 = x8 & !x0;
    let x10 = x9 & a;
    let x11 = b ^ x10;
    let x12 = x11 & b;
    let x13 = x7 ^ x12;
    let x14 = e ^ x4;
    let x15 = x14 ^ a;
    let x16 = !x8;
    let x17 = x11 ^ x5;
    let x18 = x17 & !c;
    let x19 = x16 ^ x18;
    let x20 = x19 & !b;
    let x21 = x15 ^ x20;
    let x22 = x17 ^ x0;
    let x23 = x22 | x16;
    let x24 = x23 & f;
    let x25 = x21 ^ x24;
    let x26 = x1 ^ x15;
    let x27 = x0 & x24;
    let x28 = x14 & !f;
    let x29 = x27 ^ x28;
    let x30 = x29 & e;
    let x31 = x26 ^ x30;
    let x32 = x28 | x7;
    let x33 = x13 | x14;
    let x34 = x33 & !x9;
    let x35 = x34 & f;
    let x36 = x32 ^ x35;
    let x37 = x36 & b;
    let x38 = x31 ^ x37;
    let x39 = x25 & !x13;
    let x40 = x39 ^ c;
    let x41 = x40 & !a;
    let x42 = x31 ^ c;
    let x43 = x41 ^ x42;
    let x44 = x43 & e;
    let x45 = x40 ^ x44;
    let x46 = x28 | x45;
    let x47 = x46 ^ x26;
    let x48 = x34 ^ x6;
    let x49 = x48 & d;
    let x50 = x47 ^ x49;
    let x51 = x50 & b;
    let x52 = x45 ^ x51;
    [x25, x38, x52, x13]
}

/// S4: 42 gates.
#[inline(always)]
pub(super) fn s4<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = c ^ d;
    let x1 = !x0;
    let x2 = c & b;
    let x3 = x1 ^ x2;
    let x4 = b | d;
    let x5 = x4 & e;
    let x6 = x3 ^ x5;
    let x7 = x2 | x6;
    let x8 = x7 ^ x4;
    let x9 = !x3;
    let x10 = x9 & e;
    let x11 = x8 ^ x10;
    let x12 = x11 & a;
    let x13 = x6 ^ x12;
    let x14 = b & !x1;
    let x15 = x14 ^ x8;
    let x16 = e ^ x5;
    let x17 = x7 & x3;
    let x18 = x16 ^ x17;
    let x19 = x18 & !a;
    let x20 = x15 ^ x19;
    let x21 = x20 & f;
    let x22 = x13 ^ x21;
    let x23 = f ^ x22;
    let x24 = x23 ^ x20;
    let x25 = x9 ^ c;
    let x26 = x16 ^ x10;
    let x27 = x25 ^ x26;
    let x28 = x0 & !x15;
    let x29 = x28 ^ x7;
    let x30 = x29 & a;
    let x31 = x27 ^ x30;
    let x32 = d & !x12;
    let x33 = x32 ^ x15;
    let x34 = x4 ^ x28;
    let x35 = x34 | x13;
    let x36 = x35 & e;
    let x37 = x33 ^ x36;
    let x38 = x37 & f;
    let x39 = x31 ^ x38;
    let x40 = x37 ^ x39;
    let x41 = x40 ^ f;
    [x39, x41, x24, x22]
}

/// S5: 57 gates.
#[inline(always)]
pub(super) fn s5<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = a ^ b;
    let x1 = f ^ e;
    let x2 = x0 ^ x1;
    let x3 = a & e;
    let x4 = !x3;
    let x5 = x4 & !c;
    let x6 = x2 ^ x5;
    let x7 = x5 ^ b;
    let x8 = c ^ f;
    let x9 = x7 | x8;
    let x10 = e & !x9;
    let x11 = x1 | x8;
    let x12 = x11 & b;
    let x13 = x10 ^ x12;
    let x14 = x13 & !a;
    let x15 = x9 ^ x14;
    let x16 = x15 & !d;
    let x17 = x6 ^ x16;
    let x18 = x11 ^ x2;
    let x19 = x18 ^ x10;
    let x20 = x18 & x5;
    let x21 = x20 | b;
    let x22 = x21 & !f;
    let x23 = x19 ^ x22;
    let x24 = e | x21;
    let x25 = x24 ^ x12;
    let x26 = x15 & x18;
    let x27 = x11 | x23;
    let x28 = x26 ^ x27;
    let x29 = x28 & c;
    let x30 = x25 ^ x29;
    let x31 = x30 & d;
    let x32 = x23 ^ x31;
    let x33 = x17 ^ x3;
    let x34 = x29 ^ x18;
    let x35 = x33 ^ x34;
    let x36 = x17 & x2;
    let x37 = x36 & b;
    let x38 = x35 ^ x37;
    let x39 = x14 | x33;
    let x40 = x21 & !x1;
    let x41 = x40 | x36;
    let x42 = x41 & !f;
    let x43 = x39 ^ x42;
    let x44 = x43 & d;
    let x45 = x38 ^ x44;
    let x46 = x0 & x32;
    let x47 = x45 ^ x33;
    let x48 = x46 ^ x47;
    let x49 = x30 ^ x6;
    let x50 = x49 | x32;
    let x51 = x46 ^ x49;
    let x52 = !x51;
    let x53 = x52 & !a;
    let x54 = x50 ^ x53;
    let x55 = x54 & !e;
    let x56 = x48 ^ x55;
    [x45, x17, x56, x32]
}

/// S6: 55 gates.
#[inline(always)]
pub(super) fn s6<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = e | a;
    let x1 = x0 ^ b;
    let x2 = e ^ a;
    let x3 = x2 & c;
    let x4 = x1 ^ x3;
    let x5 = x1 | c;
    let x6 = x5 ^ x2;
    let x7 = x6 & !d;
    let x8 = x4 ^ x7;
    let x9 = a & x5;
    let x10 = x1 & b;
    let x11 = x5 ^ a;
    let x12 = x10 ^ x11;
    let x13 = x12 & d;
    let x14 = x9 ^ x13;
    let x15 = x14 & f;
    let x16 = x8 ^ x15;
    let x17 = d ^ c;
    let x18 = x17 ^ x6;
    let x19 = c & !e;
    let x20 = x14 ^ f;
    let x21 = x19 | x20;
    let x22 = x21 & f;
    let x23 = x18 ^ x22;
    let x24 = x12 ^ x21;
    let x25 = x16 & !x24;
    let x26 = x4 & !x25;
    let x27 = x26 & !e;
    let x28 = x25 ^ x27;
    let x29 = x28 & b;
    let x30 = x23 ^ x29;
    let x31 = !x23;
    let x32 = e | d;
    let x33 = x32 & !c;
    let x34 = x31 ^ x33;
    let x35 = x3 & x26;
    let x36 = x35 ^ x14;
    let x37 = x8 & !d;
    let x38 = x15 ^ x30;
    let x39 = x37 ^ x38;
    let x40 = x39 & !e;
    let x41 = x36 ^ x40;
    let x42 = x41 & f;
    let x43 = x34 ^ x42;
    let x44 = x31 ^ x16;
    let x45 = x40 & !x34;
    let x46 = x45 & !x1;
    let x47 = x46 & !f;
    let x48 = x44 ^ x47;
    let x49 = x16 & x11;
    let x50 = x49 ^ x43;
    let x51 = x50 & d;
    let x52 = a ^ x51;
    let x53 = x52 & e;
    let x54 = x48 ^ x53;
    [x43, x54, x30, x16]
}

/// S7: 52 gates.
#[inline(always)]
pub(super) fn s7<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = a ^ c;
    let x1 = e ^ f;
    let x2 = x0 ^ x1;
    let x3 = e | c;
    let x4 = x0 & x1;
    let x5 = x3 | x4;
    let x6 = x5 & d;
    let x7 = x2 ^ x6;
    let x8 = !c;
    let x9 = x1 & d;
    let x10 = a & x7;
    let x11 = x9 ^ x10;
    let x12 = x11 & f;
    let x13 = x8 ^ x12;
    let x14 = x13 & b;
    let x15 = x7 ^ x14;
    let x16 = d & !e;
    let x17 = x16 ^ x13;
    let x18 = c & !f;
    let x19 = x15 | x12;
    let x20 = x18 ^ x19;
    let x21 = x20 & !a;
    let x22 = x17 ^ x21;
    let x23 = x11 | x17;
    let x24 = x23 ^ x18;
    let x25 = x5 & !x12;
    let x26 = x25 & d;
    let x27 = x24 ^ x26;
    let x28 = x27 & !b;
    let x29 = x22 ^ x28;
    let x30 = b ^ x6;
    let x31 = x30 ^ x21;
    let x32 = x15 & !x26;
    let x33 = x32 ^ x3;
    let x34 = x33 & f;
    let x35 = x31 ^ x34;
    let x36 = x29 & !a;
    let x37 = x24 & !x32;
    let x38 = x36 ^ x37;
    let x39 = x38 & !d;
    let x40 = x35 ^ x39;
    let x41 = x22 ^ x40;
    let x42 = !x41;
    let x43 = x37 ^ x0;
    let x44 = x43 & !x28;
    let x45 = x44 & d;
    let x46 = x42 ^ x45;
    let x47 = x28 & !x20;
    let x48 = x30 & !x32;
    let x49 = x47 ^ x48;
    let x50 = x49 & !f;
    let x51 = x46 ^ x50;
    [x29, x40, x51, x15]
}

/// S8: 51 gates.
#[inline(always)]
pub(super) fn s8<W: Word>([a, b, c, d, e, f]: [W; 6]) -> [W; 4] {
    let x0 = c & !b;
    let x1 = f ^ d;
    let x2 = x0 ^ x1;
    let x3 = !c;
    let x4 = b & !d;
    let x5 = x3 ^ x4;
    let x6 = x5 & !e;
    let x7 = x2 ^ x6;
    let x8 = x4 | e;
    let x9 = x0 ^ b;
    let x10 = x8 ^ x9;
    let x11 = e & x3;
    let x12 = d & x2;
    let x13 = x11 ^ x12;
    let x14 = x13 & !f;
    let x15 = x10 ^ x14;
    let x16 = x15 & a;
    let x17 = x7 ^ x16;
    let x18 = x10 | a;
    let x19 = x18 ^ x7;
    let x20 = x2 & !x16;
    let x21 = b | x3;
    let x22 = x20 ^ x21;
    let x23 = x22 & !e;
    let x24 = x19 ^ x23;
    let x25 = x4 & c;
    let x26 = x25 ^ x8;
    let x27 = x9 & !x20;
    let x28 = x27 ^ x13;
    let x29 = x28 & a;
    let x30 = x26 ^ x29;
    let x31 = x30 & f;
    let x32 = x24 ^ x31;
    let x33 = a ^ x5;
    let x34 = x5 ^ x19;
    let x35 = x34 & !e;
    let x36 = x33 ^ x35;
    let x37 = x16 ^ x32;
    let x38 = x37 ^ x15;
    let x39 = x5 ^ x10;
    let x40 = x39 & b;
    let x41 = x38 ^ x40;
    let x42 = x41 & !f;
    let x43 = x36 ^ x42;
    let x44 = e ^ x36;
    let x45 = x35 ^ x9;
    let x46 = x0 ^ x17;
    let x47 = x46 & !d;
    let x48 = x45 ^ x47;
    let x49 = x48 & f;
    let x50 = x44 ^ x49;
    [x43, x17, x32, x50]
}
