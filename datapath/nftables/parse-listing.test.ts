import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listingOf } from './fake-listing.ts';
import { FakeNft } from './fake-nft.ts';
import { parseListing } from './parse-listing.ts';

/** What nft 1.1.3 printed. */
const LISTING = `table inet ovn-udn {
	flags dormant

	counter hits {
	}

	set ports {
		type ipv4_addr . inet_proto . inet_service
		comment "hello } elements = {"
		elements = { 10.0.0.2 . udp . 53 comment "red/a, b : c",
			     10.0.0.1 . 6 . 80 }
	}

	set subnets {
		type ipv6_addr
		flags interval
		elements = { fd00::/64 timeout 5s comment "x", fd01::1-fd01::9 }
	}

	map marks {
		type inet_proto . inet_service : verdict
		elements = { tcp . 81 comment "fooo" : jump red }
	}

	map names {
		type cgroupsv2 . ifname : mark
		elements = { 793522 . "ovn-k8s-mp1" : 0x00001001 }
	}

	chain red {
	}

	chain isolation {
		comment "why: \\"
		type filter hook output priority 0; policy accept;
		socket cgroupv2 level 1 "kubelet.slice" accept comment "two
	}
lines"
		meta l4proto . th dport vmap @marks
	}
}
`;

describe('parsing a listing', () => {
  it('finds everything in it', () => {
    const { header, chains, sets, others } = parseListing(LISTING);
    expect(header).toEqual(['flags dormant']);
    expect(others).toEqual([{ kind: 'counter', name: 'hits' }]);
    expect(chains.get('red')).toEqual({ header: [], rules: [] });
    expect(chains.get('isolation')).toEqual({
      header: ['comment "why: \\"', 'type filter hook output priority 0; policy accept;'],
      rules: [
        'socket cgroupv2 level 1 "kubelet.slice" accept comment "two\n\t}\nlines"',
        'meta l4proto . th dport vmap @marks',
      ],
    });
    expect([...(sets.get('ports')?.elements ?? [])]).toEqual([
      ['10.0.0.2 . udp . 53', { value: undefined, comment: 'red/a, b : c', extra: undefined }],
      ['10.0.0.1 . tcp . 80', { value: undefined, comment: undefined, extra: undefined }],
    ]);
    expect(sets.get('ports')?.header[1]).toBe('comment "hello } elements = {"');
    expect([...(sets.get('subnets')?.elements ?? [])]).toEqual([
      ['fd00::/64', { value: undefined, comment: 'x', extra: 'timeout 5s' }],
      ['fd01::1-fd01::9', { value: undefined, comment: undefined, extra: undefined }],
    ]);
    expect(sets.get('marks')).toMatchObject({ kind: 'map' });
    expect(sets.get('marks')?.elements.get('tcp . 81')?.value).toBe('jump red');
    expect(sets.get('names')?.elements.get('793522 . "ovn-k8s-mp1"')?.value).toBe('0x00001001');
  });

  it('refuses what is cut off, wherever, with one kind of error', () => {
    for (let length = 0; length < LISTING.length - 1; length++) {
      expect(() => parseListing(LISTING.slice(0, length))).toThrow(/the listing of the table cannot be read/);
    }
  });

  it('ends on any text, with a table or with its error', () => {
    const lines = fc.constantFrom(...LISTING.split('\n'), '\t}', '}', '\t\telements = { a : b : c }', '"', '{');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(lines, fc.string())).map((all) => all.join('\n')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          expect(parseListing(text).chains).toBeInstanceOf(Map);
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_NFT_LISTING' });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('reads what the one in memory prints', async () => {
    const nft = new FakeNft();
    await nft.run({ file: 'nft', args: ['add table inet t'] });
    const { stdout } = await nft.run({ file: 'nft', args: ['list', 'table', 'inet', 't'] });
    expect(listingOf('t', parseListing(stdout))).toBe(stdout);
  });
});
