import { describe, expect, it } from 'vitest';
import { parseMac } from '../../../net/mac.ts';
import {
  attribute,
  byteAttribute,
  nested,
  numberAttribute,
  readAttributes,
  readNested,
  readNumber,
  readText,
  textAttribute,
} from '../wire/attributes.ts';
import { formatLink } from '../wire/codec.ts';
import { IFF } from '../wire/constants.ts';
import { addVeth, decodeLink, setAddrGenMode, setLink } from './codec.ts';
import { isLinkName, type NewVeth } from './types.ts';

const veth: NewVeth = {
  kind: 'veth',
  name: 'abcdef0123',
  mac: parseMac('0e:58:0a:80:01:03'),
  mtu: 1400,
  group: 7,
  peer: { name: 'eth0', mac: parseMac('0a:58:0a:80:01:03'), mtu: 1400, group: 7, netns: '/run/netns/pod' },
};

describe('a new veth', () => {
  const { payload } = addVeth(veth, 11);

  it('has name, MAC, MTU and group on both ends from the beginning', () => {
    expect(decodeLink(Buffer.from(payload))).toMatchObject({
      name: veth.name,
      mac: veth.mac,
      mtu: 1400,
      group: 7,
      kind: 'veth',
    });
    expect(decodeLink(peerOf(payload))).toMatchObject({ name: 'eth0', mac: veth.peer.mac, mtu: 1400, group: 7 });
  });

  it('has its peer made in the other namespace, and one queue each', () => {
    const peer = readAttributes(peerOf(payload).subarray(16));
    expect([readNumber(peer, 28), readNumber(peer, 31), readNumber(peer, 32)]).toEqual([11, 1, 1]);
    expect(readAttributes(peerOf(addVeth(veth, undefined).payload).subarray(16)).has(28)).toBe(false);
  });

  const peerOf = (bytes: Uint8Array): Buffer => {
    const data = readNested(readNested(readAttributes(Buffer.from(bytes).subarray(16)), 18), 2);
    return data.get(1) ?? Buffer.alloc(0);
  };
});

describe('a change', () => {
  it('touches only what it names', () => {
    const read = (change: Parameters<typeof setLink>[1]) => {
      const { payload } = setLink('eth0', change);
      return {
        header: [...payload.subarray(8, 16)],
        types: [...readAttributes(Buffer.from(payload).subarray(16)).keys()],
      };
    };
    expect(read({ up: true })).toEqual({ header: [1, 0, 0, 0, 1, 0, 0, 0], types: [3] });
    expect(read({ up: false })).toEqual({ header: [0, 0, 0, 0, 1, 0, 0, 0], types: [3] });
    expect(read({ mtu: 1400, alias: 'x', group: 1 })).toEqual({
      header: [0, 0, 0, 0, 0, 0, 0, 0],
      types: [3, 4, 20, 27],
    });
  });

  it('of address generation is nested as the kernel wants', () => {
    const read = readAttributes(Buffer.from(setAddrGenMode('eth0', 'none').payload).subarray(16));
    expect(readText(read, 3)).toBe('eth0');
    expect([...(readNested(readNested(read, 26), 10).get(8) ?? [])]).toEqual([1]);
  });
});

describe('decodeLink', () => {
  it('reads all that is known', () => {
    const bytes = Buffer.concat([
      formatLink({ index: 5, flags: IFF.UP | IFF.LOWER_UP }),
      textAttribute(3, 'h1'),
      attribute(1, Uint8Array.of(14, 88, 10, 128, 1, 3)),
      numberAttribute(4, 1400),
      numberAttribute(5, 2),
      numberAttribute(10, 9),
      nested(18, textAttribute(1, 'veth')),
      textAttribute(20, 'ovn-udn:a'),
      nested(26, nested(10, byteAttribute(8, 1))),
      numberAttribute(27, 7),
      numberAttribute(37, 0),
    ]);
    expect(decodeLink(bytes)).toEqual({
      index: 5,
      name: 'h1',
      kind: 'veth',
      mac: '0e:58:0a:80:01:03',
      mtu: 1400,
      up: true,
      carrier: true,
      master: 9,
      alias: 'ovn-udn:a',
      group: 7,
      peer: { index: 2, netnsid: 0 },
      addrGenMode: 'none',
    });
  });

  it('has no MAC for an address that is none', () => {
    expect(decodeLink(Buffer.concat([formatLink({ index: 1 }), attribute(1, Buffer.alloc(4))])).mac).toBeUndefined();
  });
});

it.each([
  ['eth0', true],
  ['a.b-c_d', true],
  ['fifteen-bytes-x', true],
  ['sixteen-bytes-xx', false],
  ['', false],
  ['.', false],
  ['..', false],
  ['a/b', false],
  ['a b', false],
  ['a:b', false],
  ['a\0', false],
])('"%s" is a name for a link: %s', (name, expected) => expect(isLinkName(name)).toBe(expected));
