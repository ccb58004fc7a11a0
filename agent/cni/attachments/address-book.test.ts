import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { defaultNetwork } from '../../../api/network.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { macFromIp, parseMac } from '../../../net/mac.ts';
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

  it('that the pod holds of other subnets is refused: another would be written over it', () => {
    const it = book('10.128.0.0/29');
    it.enter('ns/a', 'default', 'default', [parseIp('192.168.0.1')]);
    expect(() => it.give('ns/a', 'default', 'default')).toThrow(
      '192.168.0.1, which the pod holds, is in no subnet of this node: delete the pod',
    );
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.3/29']);
  });

  it('of the network that a NAD was about before is free when the pod gets one of another', () => {
    const it = book('10.128.0.0/29');
    const other = { ...network, name: 'other' };
    it.setSubnets(other, [parseCidr('10.9.0.0/29')]);
    it.give('ns/a', 'ns/nad', 'default');
    expect(it.give('ns/a', 'ns/nad', 'other')).toEqual(['10.9.0.3/29']);
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.3/29']);
  });

  it('stays with its pod when the node gets another subnet besides', () => {
    const it = book('10.128.0.0/29');
    it.give('ns/a', 'default', 'default');
    it.setSubnets(network, ['10.128.0.0/29', 'fd00::/64'].map(parseCidr));
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.4/29', 'fd00::3/64']);
  });
});

describe('a MAC', () => {
  const of = (ip: string) => macFromIp(parseIp(ip));

  it('that a pod has, keeps nobody from an address: the next one is given until that pod is gone', () => {
    const it = book('10.128.0.0/29', 'fd00::/64');
    it.enter('ns/thief', 'default', 'default', [parseIp('10.128.0.6')], of('10.128.0.3'));
    expect(it.give('ns/a', 'default', 'default')).toEqual(['10.128.0.4/29', 'fd00::3/64']);
    it.releasePod('ns/thief');
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.3/29', 'fd00::4/64']);
  });

  it('of an IPv6 address, too', () => {
    const it = book('fd00::/64');
    it.give('ns/thief', 'ns/net', 'default', of('fd00::4'));
    expect(it.give('ns/a', 'default', 'default')).toEqual(['fd00::5/64']);
  });

  it.each([
    ['0a:58:0a:80:00:04', /derives from 10.128.0.4 of 10.128.0.0\/29, and is for the pod that has this address$/],
    ['0a:58:0a:80:00:01', /is that of a port of the node$/],
    ['02:00:00:00:00:07', /^requested MAC 02:00:00:00:00:07 belongs to pod ns\/held$/],
  ])('is refused to who asks for that of others: %s', (mac, message) => {
    const it = book('10.128.0.0/29');
    it.enter('ns/held', 'default', 'default', [parseIp('10.128.0.6')], parseMac('02:00:00:00:00:07'));
    expect(() => it.give('ns/a', 'ns/net', 'default', parseMac(mac))).toThrow(
      expect.objectContaining({ code: 'ERR_NET_CONFLICT', message: expect.stringMatching(message) }),
    );
    expect(it.give('ns/b', 'default', 'default')).toEqual(['10.128.0.3/29']);
  });

  it('may be asked for where it is that of the pod’s own address, and by one of its interfaces', () => {
    const it = book('10.128.0.0/29');
    expect(it.give('ns/a', 'ns/net', 'default', of('10.128.0.3'))).toEqual(['10.128.0.3/29']);
    expect(it.give('ns/a', 'ns/net', 'default', of('10.128.0.3'))).toEqual(['10.128.0.3/29']);
    expect(() => it.give('ns/a', 'ns/net/1', 'default', of('10.128.0.3'))).toThrow('belongs to pod ns/a');
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
