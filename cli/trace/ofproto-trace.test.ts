import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { parseOfprotoTrace } from './ofproto-trace.ts';
import { mutatedText } from './testing/mutated-text.ts';

const NAMES = ['local', 'remote', 'drop', 'acl', 'patch-out', 'patch-drop', 'in-est', 'leaves', 'next-hop'] as const;
const read = (name: string): string => readFileSync(join(import.meta.dirname, 'testdata', `${name}.txt`), 'utf8');

describe('a trace of Open vSwitch 3.5', () => {
  it('has the tables, flows and actions that a packet met', () => {
    const [pass, ...more] = parseOfprotoTrace(read('local'));
    expect(more).toEqual([]);
    expect(pass?.bridges.map(({ bridge }) => bridge)).toEqual(['br-int']);
    const steps = pass?.bridges[0]?.steps ?? [];
    expect(steps[0]).toMatchObject({
      table: 0,
      flow: { match: 'in_port=2', priority: 100, cookie: '0x7f1ddabb' },
    });
    expect(steps.at(-1)).toEqual({
      table: 65,
      flow: { match: 'reg15=0x4,metadata=0x3', priority: 100, cookie: '0xc2f4ac58' },
      actions: [{ text: 'output:4', notes: [] }],
    });
    expect(pass?.datapathActions).toBe('7');
  });

  it('goes on in another pass behind conntrack', () => {
    const passes = parseOfprotoTrace(read('acl'));
    expect(passes.map(({ resumed, datapathActions }) => [resumed, datapathActions])).toEqual([
      [undefined, 'ct(zone=17),recirc(0xc)'],
      ['conntrack with ct_state=new|trk', 'drop'],
    ]);
  });

  it('goes on in the bridge behind a patch port', () => {
    const [pass] = parseOfprotoTrace(read('patch-out'));
    expect(pass?.bridges.map(({ bridge }) => bridge)).toEqual(['br-tst2', 'br-tst']);
    expect(pass?.bridges[1]?.steps[0]?.actions.map(({ text }) => text)).toContain('output:2');
  });

  it('has notes of what actions came to', () => {
    const [pass] = parseOfprotoTrace(read('remote'));
    const output = pass?.bridges[0]?.steps.flatMap(({ actions }) => actions).find(({ text }) => text === 'output:1');
    expect(output?.notes).toContain('tunneling to 172.20.0.12 via br-ex');
    expect(pass?.bridges.map(({ bridge, isUnderlay }) => [bridge, isUnderlay])).toEqual([
      ['br-int', false],
      ['br-ex', true],
      ['br-int', false],
    ]);
  });

  it('has steps of tables without a match', () => {
    const steps = parseOfprotoTrace(read('drop'))[0]?.bridges[0]?.steps ?? [];
    expect(steps.filter(({ flow }) => flow === undefined).map(({ table }) => table)).toContain(79);
  });
});

describe('what is no trace is refused', () => {
  it.each([
    ['an error of ovs-appctl', 'br-nope: unknown bridge\novs-appctl: ovs-vswitchd: server returned an error\n'],
    ['nothing', ''],
    ['a beginning', read('acl').slice(0, 900)],
    ['something before the first bridge', read('local').replace('bridge("br-int")', 'bridge br-int')],
    ['a flow without a priority', read('local').replace(', priority 50, cookie 0xe963a05b', '')],
    ['a pass that does not follow', read('acl').slice(0, read('acl').indexOf('Flow: recirc_id'))],
  ])('%s', (_, text) => expect(() => parseOfprotoTrace(text)).toThrow(CliError));
});

it('is read whatever somebody makes of it, or refused with a message', () => {
  const mutated = mutatedText(NAMES, read);
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string()), (text) => {
      try {
        expect(parseOfprotoTrace(text).length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(CliError);
      }
    }),
  );
});
