//! The cipher over one register type: S-boxes as circuits of two-input gates, the linear
//! transformation, and the rounds.
//!
//! Macros, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands them brings its own `xor`, `and`, `and_not` (the first
//! and not the second), `or`, `not`, `shift_left`, `rotate_left` and `splat`.
//!
//! The circuits are the shortest that a search found among those whose steps each XOR
//! into one of the four words a function of the other three: 13 to 16 gates.

/// Defines the S-boxes `s0` to `s7`, their inverses `i0` to `i7`, and the linear transformation
/// `linear` with its inverse `unlinear`. Each takes and gives the four words of a state.
///
/// The linear transformation adds the next round key on its way, in the form that the key schedule
/// gives it, at places where nothing waits for the sum.
macro_rules! gates {
    ($(#[$feature:meta])* $word:ty) => {
        #[inline]
        $(#[$feature])*
        fn s0([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let b = xor(b, and(a, d));
            let a = xor(a, xor(b, d));
            let d = xor(d, or(b, c));
            let c = xor(c, a);
            let b = xor(b, or(c, d));
            let a = xor(a, and_not(b, d));
            let d = xor(d, or(b, c));
            [not(b), not(d), a, c]
        }

        #[inline]
        $(#[$feature])*
        fn s1([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let b = not(b);
            let c = xor(c, or(a, b));
            let a = xor(a, xor(b, d));
            let b = xor(b, or(a, d));
            let a = xor(a, and(b, c));
            let b = xor(b, xor(a, c));
            let d = xor(d, c);
            let c = xor(c, and(a, b));
            [c, not(b), d, a]
        }

        #[inline]
        $(#[$feature])*
        fn s2([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let d = xor(d, and(a, c));
            let a = xor(a, and_not(d, b));
            let b = xor(b, xor(c, d));
            let c = xor(c, and(a, d));
            let a = xor(a, b);
            let d = xor(d, and_not(a, c));
            let c = xor(c, d);
            [b, c, d, not(a)]
        }

        #[inline]
        $(#[$feature])*
        fn s3([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let c = xor(c, and_not(b, d));
            let d = xor(d, and_not(b, and(a, c)));
            let b = xor(b, or(a, d));
            let a = xor(a, xor(c, d));
            let d = xor(d, and_not(b, c));
            let c = xor(c, and(a, b));
            let b = xor(b, and_not(d, a));
            [b, d, a, c]
        }

        #[inline]
        $(#[$feature])*
        fn s4([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let c = xor(c, and_not(d, a));
            let a = xor(a, and_not(b, c));
            let d = xor(d, xor(a, c));
            let c = xor(c, and(b, d));
            let b = xor(b, a);
            let b = xor(b, and_not(or(a, c), d));
            let a = xor(a, and_not(c, b));
            [not(c), b, a, d]
        }

        #[inline]
        $(#[$feature])*
        fn s5([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let d = not(d);
            let c = xor(c, and_not(b, a));
            let a = xor(a, or(c, d));
            let b = xor(b, xor(a, c));
            let c = xor(c, or(b, d));
            let d = xor(d, and(a, c));
            let a = xor(a, and_not(d, and_not(c, b)));
            let d = xor(d, b);
            [c, b, d, a]
        }

        #[inline]
        $(#[$feature])*
        fn s6([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let a = not(a);
            let c = xor(c, and_not(d, a));
            let b = xor(b, c);
            let a = xor(a, xor(b, d));
            let d = xor(d, and_not(b, a));
            let a = xor(a, and_not(c, d));
            let c = xor(c, xor(a, d));
            let d = xor(d, and_not(a, c));
            [a, not(b), c, d]
        }

        #[inline]
        $(#[$feature])*
        fn s7([a, b, c, d]: [$word; 4]) -> [$word; 4] {
            let a = xor(a, and(b, d));
            let d = xor(d, and_not(c, b));
            let c = xor(c, and(a, d));
            let b = xor(b, xor(a, c));
            let d = xor(d, and_not(b, c));
            let c = xor(c, and_not(or(a, b), d));
            let a = xor(a, or(c, d));
            [not(c), a, d, b]
        }

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

/// Defines `encrypt_rounds`, the 32 rounds for `G` independent states side by side, so that the steps
/// of one fill the waits of the others.
///
/// `$inline` is `inline(never)` where a loop around would load all round keys into registers first,
/// or rather onto the stack.
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

        /// Word by word: left to itself, the compiler copies by registers that are wider than what
        /// was just written, and waits for it.
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

/// Defines a test that the S-boxes of the module are the published tables. `$splat` makes a register
/// of a word, `$lowest` takes a word out.
macro_rules! tables {
    ($(#[$feature:meta])* $level:ident, $splat:path, $lowest:path) => {
        #[cfg(test)]
        #[test]
        fn circuits_are_the_published_tables() {
            // Unsafe for the processor's sake; the portable module has no features to enable.
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

            if crate::Isa::of_processor().has(crate::Level::$level) {
                // SAFETY: the processor has the instructions, as was just asked.
                let results = unsafe { boxes(crate::serpent::published::INPUTS) };
                crate::serpent::published::check(results);
            }
        }
    };
}
