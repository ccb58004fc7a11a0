import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WIRE_FORMS } from '../testing/wire-forms.ts';
import { encodeSteps } from './bundle.ts';

/** Behind the header of what adds it to the bundle, and that. */
const INNER = 16;

const hexOf = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? 'not known' : Buffer.from(bytes.subarray(INNER)).toString('hex');

const flow = (identity: string, actions = 'drop') =>
  ({ op: 'addFlow', flow: { identity, cookie: '0x5', actions } }) as const;

describe('a step of a bundle', () => {
  it.each(WIRE_FORMS)('has the bytes that ovs-ofctl gives it: $op', ({ op, hex }) => {
    expect(hexOf(encodeSteps([op]))).toBe(hex);
  });

  it('comes behind the one before it', () => {
    const ops = WIRE_FORMS.map(({ op }) => op);
    const single = ops.map((op) => encodeSteps([op]) ?? new Uint8Array());
    expect(encodeSteps(ops)).toEqual(new Uint8Array(Buffer.concat(single)));
  });

  it.each([
    flow('table=0,priority=1,frobnicate'),
    flow('table=0,priority=1,new_field=1'),
    flow('table=0,priority=1,vlan_tci=0x1/0x1'),
    flow('table=0,priority=1,tp_dst=80'),
    flow('table=0,priority=65536'),
    flow('table=0,priority=1,reg0=0x100000000'),
    flow('table=0,priority=1,ip,nw_src=1.2.3'),
    flow('table=0,priority=1,ip,ct_state=+odd'),
    flow('table=0,priority=1', 'bogus'),
    flow('table=0,priority=1', 'goto_table:5'),
    flow('table=0,priority=1', 'output:NXM_NX_REG0[]'),
    flow('table=0,priority=1', 'ct(commit,alg=ftp)'),
    flow('table=0,priority=1', 'ct(commit,nat(src=10.0.0.1-))'),
    flow('table=0,priority=1', 'move:NXM_NX_REG0[0..3]->NXM_NX_REG1[]'),
    flow('table=0,priority=1', 'learn(table=1,reg0=5)'),
  ])('is not guessed: $flow', (op) => {
    expect(encodeSteps([op])).toBeUndefined();
  });

  it('is bytes or not known, whatever is asked for', () => {
    const word = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom('ip', 'ct(', 'nat(', 'nw_src=', 'set_field:', '->reg0', '[0..3]', '10.0.0.1', '/', '-', ':', ')'),
    );
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(''));
    fc.assert(
      fc.property(text, text, (match, actions) => {
        const bytes = encodeSteps([flow(`table=0,priority=1,${match}`, actions)]);
        if (bytes !== undefined) expect((bytes[2] ?? 0) * 256 + (bytes[3] ?? 0)).toBe(bytes.length);
      }),
    );
  });
});
