import { expect, it } from 'vitest';
import { formatTable } from './format.ts';
import { parseListing } from './parse-listing.ts';
import type { NftItem } from './types.ts';

const ITEMS: readonly NftItem[] = [
  { kind: 'set', set: { name: 'udn-open-ports-v4', type: 'ipv4_addr . inet_proto . inet_service' } },
  { kind: 'element', element: { set: 'udn-open-ports-v4', key: '10.1.0.5 . tcp . 80', comment: 'red/web' } },
  { kind: 'element', element: { set: 'udn-open-ports-v4', key: '10.1.0.4 . udp . 53' } },
  { kind: 'chain', chain: { name: 'udn-mark-0x1007', rules: ['meta mark set 0x00001007'] } },
  {
    kind: 'chain',
    chain: {
      name: 'udn-isolation',
      hook: { type: 'filter', hook: 'output', priority: 0 },
      rules: ['ip daddr . meta l4proto . th dport @udn-open-ports-v4 accept'],
    },
  },
];

it('prints the table as nft will, sorted, whatever the order of the items', () => {
  const text = formatTable(ITEMS);
  expect(text).toBe(`table inet ovn-udn {
	set udn-open-ports-v4 {
		type ipv4_addr . inet_proto . inet_service
		elements = { 10.1.0.4 . udp . 53,
			     10.1.0.5 . tcp . 80 comment "red/web" }
	}

	chain udn-isolation {
		type filter hook output priority 0; policy accept;
		ip daddr . meta l4proto . th dport @udn-open-ports-v4 accept
	}

	chain udn-mark-0x1007 {
		meta mark set 0x00001007
	}
}
`);
  expect(formatTable(ITEMS.toReversed())).toBe(text);
  expect(parseListing(text).sets.get('udn-open-ports-v4')?.elements.size).toBe(2);
  expect(formatTable([])).toBe('table inet ovn-udn {\n}\n');
});
