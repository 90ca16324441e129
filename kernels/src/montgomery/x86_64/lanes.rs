//! Exponentiations of several numbers side by side, by the arithmetic of a kernel.

use super::radix::{own_digits, store_remainder};
use crate::montgomery::limbs::window;
use crate::montgomery::{Exponent, Inputs, Jobs, Workspace};
use crate::wipe;

/// Bits of an exponent that one multiplication takes.
pub(super) const WINDOW: u32 = 5;
/// Entries of the table of powers.
pub(super) const ENTRIES: usize = 1 << WINDOW;
/// The most numbers side by side.
const MOST: usize = 8;

/// What a kernel provides. A number is a slice of vectors. Numbers are less than twice their
/// moduli.
pub(super) trait Kernel {
    /// Anything of 64 bits for each lane of a register.
    type Vector: Copy + Default;
    /// How many numbers there are side by side, at most eight.
    const NUMBERS: usize;
    /// Bits of a digit.
    const WIDTH: u32;
    /// How many numbers a multiplication needs room for.
    const ROOM: usize;

    /// How many vectors numbers of so many digits have.
    fn vectors(digits: usize) -> usize;

    /// How many vectors a table of powers has, with so many vectors a number.
    fn table(vectors: usize) -> usize;

    /// So many vectors, which hold anything.
    fn memory(workspace: &mut Workspace, count: usize) -> &mut [Self::Vector];

    /// The word that holds a digit of one of the numbers.
    fn place(number: &mut [Self::Vector], which: usize, digit: usize) -> &mut u64;

    /// `number` becomes its product with `other`, divided by 2^(`WIDTH` K).
    fn multiply(
        moduli: &mut Moduli<'_, Self::Vector>,
        number: &mut [Self::Vector],
        other: &[Self::Vector],
    );

    /// `number` becomes its square, divided by 2^(`WIDTH` K).
    fn square(moduli: &mut Moduli<'_, Self::Vector>, number: &mut [Self::Vector]);

    /// Squares `number` as often as a window has bits, and looks up the entries of the table.
    fn square_and_look_up(
        moduli: &mut Moduli<'_, Self::Vector>,
        number: &mut [Self::Vector],
        table: &[Self::Vector],
        indices: &[u64; MOST],
        entry: &mut [Self::Vector],
    ) {
        for _ in 0..WINDOW {
            Self::square(moduli, number);
        }
        Self::look_up(table, indices, entry);
    }

    /// One entry of the table for each number, by reading all.
    fn look_up(table: &[Self::Vector], indices: &[u64; MOST], entry: &mut [Self::Vector]);

    /// Sets an entry of the table.
    fn store_entry(table: &mut [Self::Vector], index: usize, number: &[Self::Vector]);
}

/// Moduli of as many digits, and room for multiplications.
pub(super) struct Moduli<'a, V> {
    pub(super) n: &'a [V],
    /// Minus the inverses of the moduli, in the lowest bits of each word.
    pub(super) inverse: V,
    /// [`Kernel::ROOM`] times as long as `n`.
    pub(super) room: &'a mut [V],
}

/// Memory of a group. All numbers have as many vectors.
struct Group<'a, K: Kernel> {
    digits: usize,
    moduli: Moduli<'a, K::Vector>,
    r_squared: &'a mut [K::Vector],
    base: &'a mut [K::Vector],
    number: &'a mut [K::Vector],
    table: &'a mut [K::Vector],
}

impl<'a, K: Kernel> Group<'a, K> {
    fn new<'b>(
        jobs: impl Iterator<Item = Inputs<'b>>,
        digits: usize,
        memory: &'a mut [K::Vector],
    ) -> Self {
        memory.fill(K::Vector::default());
        let vectors = K::vectors(digits);
        let (n, rest) = memory.split_at_mut(vectors);
        let (room, rest) = rest.split_at_mut(K::ROOM * vectors);
        let (r_squared, rest) = rest.split_at_mut(vectors);
        let (base, rest) = rest.split_at_mut(vectors);
        let (number, table) = rest.split_at_mut(vectors);
        let mut inverse = K::Vector::default();
        for (which, Inputs { modulus, base: number, .. }) in jobs.enumerate() {
            let own = own_digits(modulus);
            copy::<K>(&own.n, which, n);
            copy::<K>(&own.r_squared, which, r_squared);
            spread::<K>(number, which, digits, base);
            *K::place(core::slice::from_mut(&mut inverse), which, 0) = modulus.context().inverse[0];
        }
        Self { digits, moduli: Moduli { n, inverse, room }, r_squared, base, number, table }
    }

    /// The number 1 in `number`.
    fn set_one(&mut self) {
        self.number.fill(K::Vector::default());
        for which in 0..K::NUMBERS {
            *K::place(self.number, which, 0) = 1;
        }
    }

    /// `number` in Montgomery's form.
    fn enter(&mut self) {
        K::multiply(&mut self.moduli, self.number, self.r_squared);
    }

    /// `number` times the factors of those that have one, out of Montgomery's form; `base` is
    /// overwritten.
    fn leave<'b>(&mut self, factors: impl Iterator<Item = Option<&'b [u64]>>) {
        self.base.fill(K::Vector::default());
        for (which, factor) in factors.enumerate() {
            spread::<K>(factor.unwrap_or(&[1]), which, self.digits, self.base);
        }
        K::multiply(&mut self.moduli, self.number, self.base);
    }

    /// Fills the table with the powers of the base from the zeroth on. `base` becomes its form.
    fn fill_table(&mut self) {
        K::multiply(&mut self.moduli, self.base, self.r_squared);
        self.set_one();
        self.enter();
        for entry in 0..ENTRIES {
            K::store_entry(self.table, entry, self.number);
            if entry + 1 < ENTRIES {
                K::multiply(&mut self.moduli, self.number, self.base);
            }
        }
    }

    /// `base` to an own secret exponent for each number, into `number` in Montgomery's form.
    fn raise(&mut self, exponents: &[&[u64]; MOST]) {
        self.fill_table();
        let limbs = exponents.iter().map(|exponent| exponent.len()).max().unwrap_or(0);
        let width = WINDOW as usize;
        let windows = (64 * limbs).div_ceil(width);
        let mut indices = [0; MOST];
        for i in (0..windows.max(1)).rev() {
            indices = exponents.map(|exponent| window(exponent, width * i, WINDOW));
            if i + 1 >= windows {
                K::look_up(self.table, &indices, self.number);
                continue;
            }
            K::square_and_look_up(&mut self.moduli, self.number, self.table, &indices, self.base);
            K::multiply(&mut self.moduli, self.number, self.base);
        }
        wipe::words(&mut indices);
    }

    /// `base` to one public exponent, which is not zero, into `number` in Montgomery's form; if
    /// `plainly`, which is for odd exponents from 3 on, out of it.
    fn raise_public(&mut self, exponent: u64, plainly: bool) {
        self.number.copy_from_slice(self.base);
        self.enter();
        let form = &mut self.table[..self.number.len()];
        form.copy_from_slice(self.number);
        for bit in (0..exponent.ilog2()).rev() {
            K::square(&mut self.moduli, self.number);
            if exponent >> bit & 1 == 1 {
                let factor = if bit == 0 && plainly { &*self.base } else { &*form };
                K::multiply(&mut self.moduli, self.number, factor);
            }
        }
    }

    /// `base` to an own public exponent for each number, into `number` in Montgomery's form.
    fn raise_each(&mut self, exponents: &[u64; MOST]) {
        K::multiply(&mut self.moduli, self.base, self.r_squared);
        self.set_one();
        self.enter();
        // The form of 1, for numbers whose exponent has a zero where another one has a one.
        let (one, rest) = self.table.split_at_mut(self.number.len());
        let factor = &mut rest[..one.len()];
        one.copy_from_slice(self.number);
        let bits = 64 - exponents.iter().fold(0, |all, exponent| all | exponent).leading_zeros();
        for bit in (0..bits).rev() {
            K::square(&mut self.moduli, self.number);
            let ones = exponents.map(|exponent| exponent >> bit & 1 == 1);
            if ones.contains(&true) {
                factor.copy_from_slice(one);
                for (which, _) in ones.iter().enumerate().filter(|&(_, &is_one)| is_one) {
                    for digit in 0..self.digits {
                        *K::place(factor, which, digit) = *K::place(self.base, which, digit);
                    }
                }
                K::multiply(&mut self.moduli, self.number, factor);
            }
        }
    }
}

/// The digits of one of the numbers from limbs; zeros fill the digits above.
///
/// Not inlined into functions with vectors of 512 bits, where such loops would become scatters and
/// gathers. Their addresses would be public, but they are slower.
#[inline(never)]
fn spread<K: Kernel>(limbs: &[u64], which: usize, digits: usize, number: &mut [K::Vector]) {
    for digit in 0..digits {
        *K::place(number, which, digit) = window(limbs, K::WIDTH as usize * digit, K::WIDTH);
    }
}

#[inline(never)]
fn copy<K: Kernel>(from: &[u64], which: usize, number: &mut [K::Vector]) {
    for (digit, &from) in from.iter().enumerate() {
        *K::place(number, which, digit) = from;
    }
}

/// At most as many exponentiations as there are numbers side by side, of as many digits.
pub(super) fn raise<K: Kernel>(jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    let first = jobs.job(chosen[0]).exponent;
    let mut secret: [&[u64]; MOST] = [&[]; MOST];
    let mut public = [0; MOST];
    for (at, &i) in chosen.iter().enumerate() {
        match jobs.job(i).exponent {
            Exponent::Secret(exponent) => secret[at] = exponent,
            Exponent::Public(exponent) => public[at] = exponent,
        }
    }
    let digits = own_digits(jobs.job(chosen[0]).modulus).n.len();
    let vectors = K::vectors(digits);
    let table = match first {
        Exponent::Secret(_) => K::table(vectors),
        Exponent::Public(_) => 2 * vectors,
    };
    let memory = K::memory(workspace, (4 + K::ROOM) * vectors + table);
    let numbers = chosen.iter().map(|&i| jobs.job(i));
    let mut group = Group::<K>::new(numbers, digits, memory);
    let factors = chosen.iter().map(|&i| jobs.job(i).factor);
    let mut plainly = false;
    match first {
        Exponent::Secret(_) => group.raise(&secret),
        Exponent::Public(first) => {
            let same = public[..chosen.len()].iter().all(|&exponent| exponent == first);
            if first != 0 && same {
                plainly = Exponent::Public(first).leaves() && factors.clone().all(|f| f.is_none());
                group.raise_public(first, plainly);
            } else {
                group.raise_each(&public);
            }
        }
    }
    if !plainly {
        group.leave(factors);
    }
    for (which, &i) in chosen.iter().enumerate() {
        let digits = (0..digits).map(|digit| *K::place(group.number, which, digit));
        store_remainder(digits, K::WIDTH, jobs.place(i));
    }
    wipe::words(memory);
}
