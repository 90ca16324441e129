//! The cipher over one register type: S-boxes as circuits of two-input gates, the linear
//! transformation, and the rounds.
//!
//! Macros, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands them brings its own `xor`, `and`, `and_not` (the first
//! and not the second), `or`, `not`, `shift_left`, `rotate_left` and `splat`.

/// Defines the S-boxes `s0` to `s7`. Each takes and gives the four words of a state.
///
/// The circuits have 15 to 18 gates. They are the shortest that a search found among those that fit
/// between linear transformations without delaying them: the first and the third word arrive about
/// three steps after the others. Gates that many others wait for come first. Circuits of fewer
/// gates in longer chains are slower, even with two states side by side.
macro_rules! boxes {
    ($(#[$feature:meta])* $word:ty) => {
        #[inline]
        $(#[$feature])*
        fn s0([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = xor(b, d);
            let f = xor(a, e);
            let g = xor(b, a);
            let h = or(f, b);
            let i = xor(c, g);
            let j = not(e);
            let k = and(c, g);
            let l = xor(h, e);
            let m = or(i, a);
            let n = or(j, k);
            let o = and_not(l, c);
            let p = xor(m, n);
            let q = xor(o, f);
            let r = xor(h, i);
            let s = and_not(d, a);
            let t = xor(r, p);
            let u = xor(s, i);
            [p, t, q, u]
        }

        #[inline]
        $(#[$feature])*
        fn s1([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = or(b, d);
            let f = not(b);
            let g = xor(d, c);
            let h = and(e, c);
            let i = and(d, a);
            let j = xor(f, a);
            let k = or(h, i);
            let l = xor(e, g);
            let m = or(f, a);
            let n = xor(j, k);
            let o = xor(m, g);
            let p = and_not(n, l);
            let q = xor(i, e);
            let r = xor(p, o);
            let s = xor(q, p);
            let t = xor(j, r);
            [n, s, o, t]
        }

        #[inline]
        $(#[$feature])*
        fn s2([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = and(a, c);
            let f = xor(c, b);
            let g = or(d, a);
            let h = xor(e, d);
            let i = xor(g, b);
            let j = xor(f, a);
            let k = xor(h, f);
            let l = and(j, i);
            let m = or(i, j);
            let n = and(h, i);
            let o = xor(l, h);
            let p = xor(m, n);
            let q = not(j);
            let r = and(b, h);
            let s = xor(q, r);
            [k, p, o, s]
        }

        #[inline]
        $(#[$feature])*
        fn s3([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = or(d, a);
            let f = xor(a, b);
            let g = xor(c, d);
            let h = and_not(d, b);
            let i = or(b, c);
            let j = xor(e, c);
            let k = or(f, g);
            let l = xor(i, j);
            let m = and(k, a);
            let n = xor(h, c);
            let o = and_not(f, h);
            let p = and(e, c);
            let q = and(l, k);
            let r = xor(m, n);
            let s = xor(o, p);
            let t = xor(s, j);
            let u = xor(t, m);
            [q, s, r, u]
        }

        #[inline]
        $(#[$feature])*
        fn s4([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = not(b);
            let f = or(a, d);
            let g = xor(e, a);
            let h = xor(f, c);
            let i = xor(g, d);
            let j = xor(h, g);
            let k = or(d, c);
            let l = and(b, i);
            let m = and(a, j);
            let n = and(i, k);
            let o = xor(l, j);
            let p = or(m, n);
            let q = xor(h, n);
            let r = or(j, b);
            let s = xor(r, i);
            [o, q, p, s]
        }

        #[inline]
        $(#[$feature])*
        fn s5([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = and(b, a);
            let f = xor(a, d);
            let g = xor(e, c);
            let h = not(a);
            let i = xor(f, b);
            let j = xor(g, a);
            let k = or(h, c);
            let l = or(d, i);
            let m = xor(g, h);
            let n = and(j, f);
            let o = and_not(k, i);
            let p = xor(l, m);
            let q = or(n, o);
            let r = or(d, p);
            let s = xor(r, i);
            let t = xor(o, g);
            [p, s, q, t]
        }

        #[inline]
        $(#[$feature])*
        fn s6([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = and(d, a);
            let f = xor(d, a);
            let g = not(b);
            let h = xor(e, c);
            let i = or(b, f);
            let j = xor(g, a);
            let k = or(d, c);
            let l = and(h, i);
            let m = xor(j, k);
            let n = xor(a, i);
            let o = and(c, f);
            let p = xor(l, m);
            let q = xor(n, o);
            let r = xor(q, p);
            let s = and(r, q);
            let t = xor(h, g);
            let u = xor(s, h);
            [p, t, r, u]
        }

        #[inline]
        $(#[$feature])*
        fn s7([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let e = xor(a, b);
            let f = not(a);
            let g = or(c, e);
            let h = xor(c, d);
            let i = or(e, f);
            let j = and(b, c);
            let k = or(d, f);
            let l = xor(b, h);
            let m = and(g, h);
            let n = xor(j, k);
            let o = and(l, k);
            let p = xor(m, i);
            let q = xor(c, g);
            let r = xor(n, f);
            let s = or(q, o);
            let t = and(i, g);
            let u = xor(r, o);
            let v = xor(t, r);
            [p, u, s, v]
        }
    };
}

/// Defines the inverse S-boxes `i0` to `i7` and the linear transformation `linear` with its inverse
/// `unlinear`. Each takes and gives the four words of a state.
///
/// The circuits of the inverses are the shortest that a search found among those whose steps each
/// XOR into one of the four words a function of the other three: 13 to 16 gates.
///
/// The linear transformation also adds the next round key, in the form of the key schedule, at
/// places where nothing waits for the sum.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2"))]
macro_rules! gates {
    ($(#[$feature:meta])* $word:ty) => {
        #[inline]
        $(#[$feature])*
        fn i0([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let d = not(d);
            let c = xor(c, or(a, b));
            let a = xor(a, xor(b, d));
            let b = xor(b, or(a, d));
            let a = xor(a, and_not(c, b));
            let b = xor(b, xor(a, c));
            let d = xor(d, c);
            let c = xor(c, and_not(b, a));
            [not(b), c, d, a]
        }

        #[inline]
        $(#[$feature])*
        fn i1([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let a = not(a);
            let a = xor(a, and_not(b, d));
            let b = xor(b, xor(a, d));
            let d = xor(d, and(a, c));
            let c = xor(c, b);
            let a = xor(a, and_not(c, d));
            let b = xor(b, and_not(a, d));
            let d = xor(d, and_not(c, a));
            [d, a, b, not(c)]
        }

        #[inline]
        $(#[$feature])*
        fn i2([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let d = not(d);
            let b = xor(b, c);
            let c = xor(c, and_not(d, b));
            let d = xor(d, a);
            let b = xor(b, and(c, d));
            let a = xor(a, xor(b, c));
            let d = xor(d, and_not(c, a));
            let c = xor(c, and(b, d));
            [d, a, b, c]
        }

        #[inline]
        $(#[$feature])*
        fn i3([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let d = xor(d, and(a, c));
            let a = xor(a, and_not(b, c));
            let b = xor(b, and_not(a, d));
            let c = xor(c, xor(b, d));
            let a = xor(a, or(b, c));
            let b = xor(b, and_not(a, and(c, d)));
            let d = xor(d, and_not(a, b));
            [c, a, d, b]
        }

        #[inline]
        $(#[$feature])*
        fn i4([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let a = not(a);
            let c = xor(c, d);
            let b = xor(b, or(and_not(d, a), c));
            let c = xor(c, and_not(b, a));
            let a = xor(a, and(c, d));
            let d = xor(d, xor(a, b));
            let b = xor(b, and_not(c, a));
            let a = xor(a, and_not(b, d));
            [d, c, a, b]
        }

        #[inline]
        $(#[$feature])*
        fn i5([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let c = xor(c, and(a, d));
            let a = xor(a, or(b, c));
            let d = xor(d, c);
            let c = xor(c, and(or(a, d), b));
            let b = xor(b, xor(a, d));
            let d = xor(d, or(a, c));
            let a = xor(a, and_not(d, b));
            [b, d, a, not(c)]
        }

        #[inline]
        $(#[$feature])*
        fn i6([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let b = not(b);
            let d = xor(d, and_not(a, c));
            let a = xor(a, xor(c, d));
            let c = xor(c, and_not(d, a));
            let d = xor(d, and_not(c, b));
            let c = xor(c, xor(b, d));
            let b = xor(b, a);
            let a = xor(a, and_not(c, d));
            [not(d), b, a, c]
        }

        #[inline]
        $(#[$feature])*
        fn i7([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let a = not(a);
            let a = xor(a, and(c, d));
            let c = xor(c, and(a, d));
            let a = xor(a, and_not(b, c));
            let b = xor(b, or(and_not(a, d), c));
            let d = xor(d, xor(a, b));
            let b = xor(b, and(a, c));
            let c = xor(c, and_not(d, b));
            [a, b, d, c]
        }

        #[inline]
        $(#[$feature])*
        fn linear([a, b, c, d]: [$word; 4], key: &[u32; 4]) -> [$word; 4] {
            let a = rotate_left::<13, 19>(a);
            let c = rotate_left::<3, 29>(c);
            let b = xor(xor(xor(b, splat(key[1])), c), a);
            let d = xor(xor(xor(d, splat(key[3])), c), shift_left::<3>(a));
            let b = rotate_left::<1, 31>(b);
            let d = rotate_left::<7, 25>(d);
            let a = xor(xor(xor(a, splat(key[0])), b), d);
            let c = xor(xor(xor(c, splat(key[2])), d), shift_left::<7>(b));
            [rotate_left::<5, 27>(a), b, rotate_left::<22, 10>(c), d]
        }

        #[inline]
        $(#[$feature])*
        fn unlinear([a, b, c, d]: [$word; 4], key: &[u32; 4]) -> [$word; 4] {
            let a = xor(rotate_left::<27, 5>(a), splat(key[0]));
            let c = xor(rotate_left::<10, 22>(c), splat(key[2]));
            let a = xor(xor(a, b), d);
            let c = xor(xor(c, d), shift_left::<7>(b));
            let b = xor(rotate_left::<31, 1>(b), splat(key[1]));
            let d = xor(rotate_left::<25, 7>(d), splat(key[3]));
            let b = xor(xor(b, a), c);
            let d = xor(xor(d, shift_left::<3>(a)), c);
            [rotate_left::<19, 13>(a), b, rotate_left::<29, 3>(c), d]
        }
    };
}

/// Defines `encrypt_rounds`, the 32 rounds for `G` independent states side by side: each runs while
/// another waits.
///
/// `$inline` is `inline(never)` if a surrounding loop would otherwise first load all round keys
/// into registers, or rather onto the stack.
macro_rules! encryption {
    ($inline:meta, $(#[$feature:meta])* $word:ty) => {
        #[inline]
        $(#[$feature])*
        fn mix(x: [$word; 4], key: &[u32; 4]) -> [$word; 4] {
            [
                xor(x[0], splat(key[0])),
                xor(x[1], splat(key[1])),
                xor(x[2], splat(key[2])),
                xor(x[3], splat(key[3])),
            ]
        }

        /// Word by word: otherwise the compiler copies with registers wider than the preceding
        /// stores, and waits for those.
        #[inline]
        $(#[$feature])*
        fn copy<const G: usize>(states: &[[$word; 4]; G]) -> [[$word; 4]; G] {
            let mut copy = [[splat(0); 4]; G];
            for (copy, [a, b, c, d]) in copy.iter_mut().zip(states) {
                *copy = [*a, *b, *c, *d];
            }
            copy
        }

        #[$inline]
        $(#[$feature])*
        fn encrypt_rounds<const G: usize>(
            keys: &[[u32; 4]; 33],
            states: &mut [[$word; 4]; G],
        ) {
            let mut x = copy(states);
            let (parts, last) = keys.as_chunks::<8>();
            for (n, k) in parts.iter().enumerate() {
                for x in &mut x {
                    *x = if n == 0 { mix(*x, &k[0]) } else { linear(*x, &k[0]) };
                }
                for x in &mut x {
                    *x = linear(s0(*x), &k[1]);
                }
                for x in &mut x {
                    *x = linear(s1(*x), &k[2]);
                }
                for x in &mut x {
                    *x = linear(s2(*x), &k[3]);
                }
                for x in &mut x {
                    *x = linear(s3(*x), &k[4]);
                }
                for x in &mut x {
                    *x = linear(s4(*x), &k[5]);
                }
                for x in &mut x {
                    *x = linear(s5(*x), &k[6]);
                }
                for x in &mut x {
                    *x = linear(s6(*x), &k[7]);
                }
                for x in &mut x {
                    *x = s7(*x);
                }
            }
            for x in &mut x {
                *x = mix(*x, &last[0]);
            }
            *states = copy(&x);
        }
    };
}

/// Defines `decrypt_rounds`, beside what [`encryption!`] does.
macro_rules! decryption {
    ($inline:meta, $(#[$feature:meta])* $word:ty) => {
        #[$inline]
        $(#[$feature])*
        fn decrypt_rounds<const G: usize>(
            keys: &[[u32; 4]; 33],
            states: &mut [[$word; 4]; G],
        ) {
            let mut x = copy(states);
            let (parts, last) = keys.as_chunks::<8>();
            for x in &mut x {
                *x = mix(*x, &last[0]);
            }
            for (n, k) in parts.iter().enumerate().rev() {
                for x in &mut x {
                    *x = unlinear(i7(*x), &k[7]);
                }
                for x in &mut x {
                    *x = unlinear(i6(*x), &k[6]);
                }
                for x in &mut x {
                    *x = unlinear(i5(*x), &k[5]);
                }
                for x in &mut x {
                    *x = unlinear(i4(*x), &k[4]);
                }
                for x in &mut x {
                    *x = unlinear(i3(*x), &k[3]);
                }
                for x in &mut x {
                    *x = unlinear(i2(*x), &k[2]);
                }
                for x in &mut x {
                    *x = unlinear(i1(*x), &k[1]);
                }
                for x in &mut x {
                    *x = i0(*x);
                    *x = if n == 0 { mix(*x, &k[0]) } else { unlinear(*x, &k[0]) };
                }
            }
            *states = copy(&x);
        }
    };
}

/// Defines a test that the S-boxes of the module are the published tables. `$splat` makes a
/// register of a word, `$lowest` takes a word out.
macro_rules! tables {
    ($(#[$feature:meta])* $level:ident, $splat:path, $lowest:path) => {
        #[cfg(test)]
        #[test]
        fn circuits_are_the_published_tables() {
            // Unsafe because of the instruction set; the portable module has none to enable.
            $(#[$feature])*
            unsafe fn boxes(x: [i32; 4]) -> [[i32; 4]; 16] {
                let [a, b, c, d] = x;
                let x = [$splat(a), $splat(b), $splat(c), $splat(d)];
                let mut results = [[0; 4]; 16];
                let boxes = [
                    s0(x), s1(x), s2(x), s3(x), s4(x), s5(x), s6(x), s7(x),
                    i0(x), i1(x), i2(x), i3(x), i4(x), i5(x), i6(x), i7(x),
                ];
                for (result, [a, b, c, d]) in results.iter_mut().zip(boxes) {
                    *result = [$lowest(a), $lowest(b), $lowest(c), $lowest(d)];
                }
                results
            }

            if lanecrypt_kernels::Isa::of_processor().has(lanecrypt_kernels::Level::$level) {
                // SAFETY: the processor has the instructions, as was just asked.
                let results = unsafe { boxes(crate::serpent::published::INPUTS) };
                crate::serpent::published::check(results);
            }
        }
    };
}
