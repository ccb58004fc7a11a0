import { expect, it } from 'vitest';
import { casesOf } from './cases.ts';
import { cells } from './cells.ts';
import { claimedBy } from './dimensions/claims.ts';
import { macOfHop } from './dimensions/next-hops.ts';
import { SOURCES } from './dimensions/sources.ts';
import { dissect } from './frames/dissect.ts';
import { sampleOf } from './sample.ts';
import { MADE_UP_WORLD as world } from './testing/world.ts';
import { markerOf } from './wire/marker.ts';

const cases = casesOf(world, sampleOf(cells(), 'unit'));
const marker = markerOf('0123abcd', 77);

it('has cases of every source, each with an id of its own', () => {
  expect(new Set(cases.map(({ cell }) => cell.source))).toEqual(new Set(SOURCES));
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
});

it('carries the marker in every frame that is not the first part of one', () => {
  for (const { id, shoot } of cases) {
    const shot = shoot(marker);
    const parts = 'frames' in shot ? shot.frames : [shot.payload];
    expect(
      parts.some((bytes) => bytes.includes(marker)),
      id,
    ).toBe(true);
  }
});

it('parses back to who sends what to whom', () => {
  for (const { id, cell, attacker, target, shoot } of cases) {
    const shot = shoot(marker);
    if (!('frames' in shot)) continue;
    const { family, claim, hop, encapsulation, protocol } = cell;
    const claimed = claimedBy(world, attacker, { target, family, claim });
    for (const bytes of shot.frames) {
      const [outer, ...inner] = dissect(bytes);
      expect(outer?.from, id).toBe(claimed?.mac);
      expect(outer?.to, id).toBe(macOfHop(world, attacker, target, hop));
      if (outer?.ip === undefined) {
        expect(['arp request', 'arp reply', 'unknown ethertype'], id).toContain(protocol.name);
        continue;
      }
      expect([outer.ip.src, outer.ip.dst], id).toEqual([claimed?.src, target.ip]);
      expect(inner.length, id).toBe(encapsulation.startsWith('geneve') && outer.ip.port === 6081 ? 1 : 0);
    }
  }
});

it('stays within the link’s MTU', () => {
  for (const { shoot } of cases) {
    const shot = shoot(marker);
    if ('frames' in shot) for (const bytes of shot.frames) expect(bytes.length).toBeLessThan(400);
  }
});
