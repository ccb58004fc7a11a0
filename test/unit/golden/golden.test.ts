/**
 * What a node is programmed with for one network, as text to read: `texts/<topology>-<mode>-<family>.txt`. When it is meant
 * to change: `npx vitest run --project unit test/unit/golden -u`, and read the difference.
 */
import { expect, it } from 'vitest';
import type { RenderDocument } from '../../../agent/render/document.ts';
import { nameOf, VARIANTS, workedCluster } from './worked-cluster.ts';

it.each(VARIANTS.map((variant) => [nameOf(variant), variant] as const))('%s', async (name, variant) => {
  await expect(textOf(workedCluster(variant).render())).toMatchFileSnapshot(`texts/${name}.txt`);
});

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
