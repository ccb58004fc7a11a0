/**
 * A set of non-negative integers as a value: adding gives a new set and leaves the old one as it was. Members are kept
 * in blocks of 1,024 bits, so that a change copies one block and the small index of blocks, not the set, and finding the
 * first gap skips whole full blocks.
 */
const BLOCK_BITS = 1024n;
const WORDS = 32;

export interface Bitmap {
  readonly blocks: ReadonlyMap<bigint, Uint32Array>;
  readonly size: number;
  /** Every block before this one is full. */
  readonly firstOpenBlock: bigint;
}

export const emptyBitmap: Bitmap = { blocks: new Map(), size: 0, firstOpenBlock: 0n };

export const hasBit = (bitmap: Bitmap, bit: bigint): boolean => {
  const { block, word, mask } = locate(bit);
  return ((bitmap.blocks.get(block)?.[word] ?? 0) & mask) >>> 0 !== 0;
};

export const withBit = (bitmap: Bitmap, bit: bigint): Bitmap => {
  if (hasBit(bitmap, bit)) return bitmap;
  const blocks = changed(bitmap, bit, (old, mask) => (old | mask) >>> 0);
  let firstOpenBlock = bitmap.firstOpenBlock;
  while (isFull(blocks.get(firstOpenBlock))) firstOpenBlock += 1n;
  return { blocks, size: bitmap.size + 1, firstOpenBlock };
};

export const withoutBit = (bitmap: Bitmap, bit: bigint): Bitmap => {
  if (!hasBit(bitmap, bit)) return bitmap;
  const blocks = changed(bitmap, bit, (old, mask) => (old & ~mask) >>> 0);
  const { block } = locate(bit);
  if (blocks.get(block)?.every((word) => word === 0)) blocks.delete(block);
  return {
    blocks,
    size: bitmap.size - 1,
    firstOpenBlock: block < bitmap.firstOpenBlock ? block : bitmap.firstOpenBlock,
  };
};

/** The smallest integer ≥ `from` and ≤ `to` that is not in the set. */
export const firstGap = (bitmap: Bitmap, from: bigint, to: bigint): bigint | undefined => {
  let bit = from;
  if (bit < bitmap.firstOpenBlock * BLOCK_BITS) bit = bitmap.firstOpenBlock * BLOCK_BITS;
  while (bit <= to) {
    const words = bitmap.blocks.get(bit / BLOCK_BITS);
    if (words === undefined) return bit;
    const gap = gapInBlock(words, Number(bit % BLOCK_BITS));
    const base = (bit / BLOCK_BITS) * BLOCK_BITS;
    if (gap !== undefined) return base + BigInt(gap) <= to ? base + BigInt(gap) : undefined;
    bit = base + BLOCK_BITS;
  }
  return undefined;
};

const gapInBlock = (words: Uint32Array, from: number): number | undefined => {
  for (let index = from >>> 5; index < WORDS; index++) {
    const skipped = index === from >>> 5 ? (1 << (from & 31)) - 1 : 0;
    const free = ~((words[index] ?? 0) | skipped) >>> 0;
    if (free !== 0) return index * 32 + (31 - Math.clz32(free & -free));
  }
  return undefined;
};

const locate = (bit: bigint): { block: bigint; word: number; mask: number } => {
  const inBlock = Number(bit % BLOCK_BITS);
  return { block: bit / BLOCK_BITS, word: inBlock >>> 5, mask: (1 << (inBlock & 31)) >>> 0 };
};

const changed = (
  bitmap: Bitmap,
  bit: bigint,
  change: (old: number, mask: number) => number,
): Map<bigint, Uint32Array> => {
  const { block, word, mask } = locate(bit);
  const words = bitmap.blocks.get(block)?.slice() ?? new Uint32Array(WORDS);
  words[word] = change(words[word] ?? 0, mask);
  return new Map(bitmap.blocks).set(block, words);
};

const isFull = (words: Uint32Array | undefined): boolean => words?.every((word) => word === 0xffffffff) ?? false;
