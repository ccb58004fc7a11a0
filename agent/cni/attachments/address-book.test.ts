import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { defaultNetwork } from '../../../api/network.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { AddressBook } from './address-book.ts';

const network = defaultNetwork(parseClusterConfig());
const book = (...subnets: string[]): AddressBook => {
  const it = new AddressBook();
  it.setSubnets(network, subnets.map(parseCidr));
  return it;
};

describe('an address', () => {
  it('is the lowest free one of each subnet, behind gateway and management port', () => {
    const it = book('10.128.0.0/29', 'fd00::/64');
    expect(it.give('ns/a', 'default', 'default')).toEqual(['10.128.0.3/29', 'fd00::3/64']);
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.4/29', 'fd00::4/64']);
  });

  it('is the same for who asks again', () => {
    const it = book('10.128.0.0/29');
    it.give('ns/a', 'default', 'default');
    expect(it.give('ns/a', 'default', 'default')).toEqual(['10.128.0.3/29']);
  });

  it('is not given while the API says that somebody has it', () => {
    const it = book('10.128.0.0/29');
    expect(it.enter('ns/old', 'default', 'default', [parseIp('10.128.0.3')])).toEqual([]);
    expect(it.give('ns/new', 'default', 'default')).toEqual(['10.128.0.4/29']);
    it.releasePod('ns/old');
    expect(it.give('ns/newer', 'default', 'default')).toEqual(['10.128.0.3/29']);
  });

  it('an address of two pods is reported, and free only when both are gone', () => {
    const it = book('10.128.0.0/29');
    it.enter('ns/a', 'default', 'default', [parseIp('10.128.0.3')]);
    expect(it.enter('ns/b', 'default', 'default', [parseIp('10.128.0.3')])).toEqual(['ns/a']);
    it.releasePod('ns/a');
    expect(it.give('ns/c', 'default', 'default')).toEqual(['10.128.0.4/29']);
    it.releasePod('ns/b');
    expect(it.give('ns/d', 'default', 'default')).toEqual(['10.128.0.3/29']);
  });

  it('outside of the subnets is entered without harm', () => {
    const it = book('10.128.0.0/29');
    expect(it.enter('ns/a', 'default', 'default', [parseIp('192.168.0.1')])).toEqual([]);
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.3/29']);
  });

  it('stays with its pod when the node gets another subnet besides', () => {
    const it = book('10.128.0.0/29');
    it.give('ns/a', 'default', 'default');
    it.setSubnets(network, ['10.128.0.0/29', 'fd00::/64'].map(parseCidr));
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.4/29', 'fd00::3/64']);
  });
});

it('when one family has nothing left, nothing is given of the other', () => {
  const it = book('10.128.0.0/30', 'fd00::/64');
  expect(() => it.give('ns/a', 'default', 'default')).toThrow(expect.objectContaining({ code: 'ERR_NET_EXHAUSTED' }));
  it.setSubnets(network, [parseCidr('fd00::/64')]);
  expect(it.give('ns/a', 'default', 'default')).toEqual(['fd00::3/64']);
});

it('no two pods ever hold one address, whatever happens in which order', () => {
  const step = fc.record({ kind: fc.constantFrom('give', 'release', 'restart'), pod: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      let it = book('10.128.0.0/28');
      const held = new Map<string, string>();
      for (const { kind, pod } of steps) {
        const key = `ns/${pod}`;
        if (kind === 'give') {
          const [address = ''] = it.give(key, 'default', 'default');
          expect([...held].some(([other, one]) => other !== key && one === address)).toBe(false);
          held.set(key, address);
        } else if (kind === 'release') {
          it.releasePod(key);
          held.delete(key);
        } else {
          it = book('10.128.0.0/28');
          for (const [other, address] of held)
            it.enter(other, 'default', 'default', [parseIp(address.split('/')[0] ?? '')]);
        }
      }
    }),
  );
});
