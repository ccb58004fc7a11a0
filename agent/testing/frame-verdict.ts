/** What nf_tables makes of a frame by rules of a filter, in a few lines. */
import {
  type FrameFilter,
  type FrameRule,
  type FrameTest,
  sharedRules,
} from '../../datapath/netlink/frame-filter/types.ts';

export const verdictOn = (
  { shared, rules }: Pick<FrameFilter, 'shared' | 'rules'>,
  frame: Buffer,
  locked: ReadonlySet<string>,
): FrameRule['verdict'] => {
  const first = <V extends string>(some: readonly FrameRule<V>[]): V | undefined =>
    some.find(({ tests }) => tests.every((test) => passes(test, frame, locked)))?.verdict;
  const early = first(sharedRules(shared));
  return early === undefined || early === 'return' ? (first(rules) ?? 'drop') : early;
};

/** A test of bytes that the frame does not have fails, whatever it asks. */
const passes = (test: FrameTest, frame: Buffer, locked: ReadonlySet<string>): boolean => {
  if ('length' in test) return frame.length === test.length;
  if ('sender' in test) return locked.has(frame.toString('hex', 6, 12)) === (test.sender === 'locked');
  // Of what Open vSwitch sends for pods.
  if ('origin' in test) return false;
  if ('from' in test) {
    const byte = frame[test.at];
    return byte !== undefined && byte >= test.from && byte <= test.to;
  }
  const bytes = frame.subarray(test.at, test.at + test.is.length / 2);
  const mask = test.mask === undefined ? undefined : Buffer.from(test.mask, 'hex');
  const masked = mask === undefined ? bytes : Buffer.from(bytes.map((byte, index) => byte & (mask[index] ?? 0)));
  return masked.toString('hex') === test.is;
};
