import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OpenflowError } from '../errors.ts';
import { WIRE_FORMS } from '../testing/wire-forms.ts';
import { encodeSteps } from './bundle.ts';

/** Behind the header of what adds it to the bundle, and that. */
const INNER = 16;

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(INNER)).toString('hex');

const flow = (identity: string, actions = 'drop') =>
  ({ op: 'addFlow', flow: { identity, cookie: '0x5', actions } }) as const;

describe('a step of a bundle', () => {
  it.each(WIRE_FORMS)('has the bytes that ovs-ofctl gives it: $op', ({ op, hex }) => {
    expect(hexOf(encodeSteps([op]))).toBe(hex);
  });

  it('follows the one before it, with the next number', () => {
    const ops = WIRE_FORMS.map(({ op }) => op);
    const single = ops.map((op, index) => encodeSteps([op], index + 5));
    expect(encodeSteps(ops, 5)).toEqual(new Uint8Array(Buffer.concat(single)));
    expect(single.map((bytes) => Buffer.from(bytes).readUInt32BE(INNER + 4))).toEqual(ops.map((_, index) => index + 5));
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
    flow('table=0,priority=1', 'note:00.01'),
    flow('table=0,priority=1', 'output:NXM_NX_REG0[]'),
    flow('table=0,priority=1', 'ct(commit,alg=ftp)'),
    flow('table=0,priority=1', 'ct(commit,nat(src=10.0.0.1-))'),
    flow('table=0,priority=1', 'move:NXM_NX_REG0[0..3]->NXM_NX_REG1[]'),
    flow('table=0,priority=1', 'learn(table=1,reg0=5)'),
    flow('table=0,priority=1', Array.from({ length: 5_000 }, () => 'output:1').join(',')),
  ])('is not guessed: $flow.identity', (op) => {
    expect(() => encodeSteps([op])).toThrow(expect.objectContaining({ code: 'ERR_OPENFLOW_INVALID' }));
  });

  it('is encoded or refused, whatever it is', () => {
    const word = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom('ip', 'ct(', 'nat(', 'nw_src=', 'set_field:', '->reg0', '[0..3]', '10.0.0.1', '/', '-', ':', ')'),
    );
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(''));
    fc.assert(
      fc.property(text, text, (match, actions) => {
        try {
          const bytes = encodeSteps([flow(`table=0,priority=1,${match}`, actions)]);
          expect((bytes[2] ?? 0) * 256 + (bytes[3] ?? 0)).toBe(bytes.length);
        } catch (error) {
          if (!(error instanceof OpenflowError)) throw error;
        }
      }),
    );
  });
});
