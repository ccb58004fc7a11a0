/**
 * What a node is programmed with for one network, as text to read: `texts/<topology>-<mode>-dual.txt` in full, and for a single
 * family how its text differs from that one. When it is meant to change: `npx vitest run --project unit test/unit/golden -u`, and
 * read the difference.
 */
import { expect, it } from 'vitest';
import type { RenderDocument } from '../../../agent/render/document.ts';
import { differenceOf } from './difference.ts';
import { nameOf, VARIANTS, type Variant, workedCluster } from './worked-cluster.ts';

it.each(VARIANTS.map((variant) => [nameOf(variant), variant] as const))('%s', async (name, variant) => {
  const lines = linesOf(variant);
  const dual = linesOf({ ...variant, family: 'dual' });
  const golden = variant.family === 'dual' ? lines : differenceOf(dual, lines);
  await expect(golden.join('\n')).toMatchFileSnapshot(`texts/${name}.txt`);
});

const linesOf = (variant: Variant): string[] => textOf(workedCluster(variant).render()).split('\n');

const textOf = (document: RenderDocument): string =>
  [
    ...title('OVS ports of the host'),
    ...(document.openvswitch['Interface'] ?? []).map((row) => JSON.stringify(row)),
    ...title('flows of br-ex'),
    ...(document.openflow['br-ex'] ?? []),
    ...title('groups of br-ex'),
    ...(document.openflowGroups['br-ex'] ?? []),
    ...title('ports of br-ex that broadcasts do not reach'),
    ...(document.noFlood['br-ex'] ?? []),
    ...title('links'),
    ...document.links.map(words),
    ...title('addresses'),
    ...document.addresses.map(words),
    ...title('routes'),
    ...document.routes.map(words),
    ...title('rules'),
    ...document.rules.map(words),
    ...title('neighbours'),
    ...document.neighbours.map(words),
    ...title('settings'),
    ...Object.entries(document.sysctls).map(([key, value]) => `${key} = ${value}`),
    ...title('filters of links'),
    ...document.filters.map(words),
    ...title('nftables'),
    document.nftables,
  ].join('\n');

const title = (text: string): string[] => ['', `# ${text}`];

/** `dst 10.0.0.0/8 via 10.0.0.1` */
const words = (item: Readonly<Record<string, unknown>>): string =>
  Object.entries(item)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(' ');
