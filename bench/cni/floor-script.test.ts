import { describe, expect, it } from 'vitest';
import { plumbingOf } from '../../agent/cni/plumbing.ts';
import { parseMessages } from '../../datapath/netlink/wire/codec.ts';
import { NLM_F } from '../../datapath/netlink/wire/constants.ts';
import { pod } from './floor-cluster.suite.ts';
import { type FloorWork, floorScript } from './floor-script.ts';

const northbound = [{ op: 'insert', table: 'Logical_Switch_Port', row: { name: 'red_a' } }] as const;
const work = (id: string): FloorWork => ({
  plumbing: plumbingOf(pod, { id, netns: `/run/netns/${id}` }, { txChecksum: false }),
  northbound: [],
});
const [first, second] = [work('a'.repeat(64)), work('b'.repeat(64))];

const words = (script: readonly string[]): string[][] => script.map((line) => line.split('\t'));

describe('the script of the floor', () => {
  it('has OVS and OVN at work while the ends of the pod are configured, and then waits for all interfaces', () => {
    const steps = words(floorScript([first], 2)).map(([verb, where]) =>
      ['netns', 'netlink'].includes(verb ?? '') ? `${verb} ${where}` : verb,
    );
    expect(steps.slice(0, 3)).toEqual(['netns 0', 'netlink -', 'transact']);
    expect(steps.filter((step) => step === 'checksum')).toHaveLength(2);
    expect(steps.slice(3, -2)).toContain('netlink 0');
    expect(steps.slice(-2)).toEqual(['committed', 'installed']);
    expect(words(floorScript([first], 2)).at(-1)).toEqual(['installed', 'aaaaaaaaaaaaaaa', 'aaaaaaaaaaaaa_1']);
  });

  it('of many pods sends every transaction before anything is waited for', () => {
    const script = words(floorScript([first, second], 2));
    const verbs = script.map(([verb]) => verb);
    expect(verbs.filter((verb) => verb === 'transact')).toHaveLength(2);
    expect(verbs.lastIndexOf('transact')).toBeLessThan(verbs.indexOf('sysctl'));
    expect(script.at(-1)).toHaveLength(5);
  });

  it('writes all logical ports before anything else', () => {
    const works = [first, second].map((one) => ({ ...one, northbound }));
    const script = words(floorScript(works, 2));
    expect(script.slice(0, 2).map(([verb, where]) => `${verb} ${where}`)).toEqual(['transact nb', 'transact nb']);
    expect(JSON.parse(script[0]?.[2] ?? '')).toEqual(['OVN_Northbound', ...northbound]);
    expect(script.slice(2)).toEqual(words(floorScript([first, second], 2)));
  });

  it('asks the kernel to acknowledge the last request of each write', () => {
    for (const [verb, , hex] of words(floorScript([first], 2))) {
      if (verb !== 'netlink') continue;
      const flags = parseMessages(Buffer.from(hex ?? '', 'hex')).map((message) => message.flags & NLM_F.ACK);
      expect(flags.at(-1)).toBe(NLM_F.ACK);
      expect(flags.slice(0, -1).every((flag) => flag === 0)).toBe(true);
    }
  });
});
