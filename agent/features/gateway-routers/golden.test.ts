/**
 * What a network is made of in the northbound database of a node, one file for each topology, gateway mode and families,
 * to be read: `golden/`. After a change that is meant, `npx vitest run -u agent/features/gateway-routers` writes them
 * again.
 */
import { expect, it } from 'vitest';
import { northboundText } from '../../testing/northbound-text.ts';
import {
  WORKED_FAMILIES,
  WORKED_NETWORKS,
  type WorkedInput,
  type WorkedNetwork,
  workedCluster,
} from '../../testing/worked-networks.ts';

const INPUTS: readonly WorkedInput[] = WORKED_NETWORKS.flatMap((network) =>
  (['shared', 'local'] as const).flatMap((mode) => WORKED_FAMILIES.map((families) => ({ network, mode, families }))),
);

const TITLES: Readonly<Record<WorkedNetwork, string>> = {
  default: 'The default network on node1 (node id 2); node2 (node id 3) is another node.',
  layer3:
    'The layer-3 network isolatednet (network id 2) on test-node (node id 4); other-node (node id 5) is another node.',
  layer2:
    'The layer-2 network isolatednet (network id 2) on test-node (node id 4); other-node (node id 5) is another node.',
};

const textOf = (input: WorkedInput): string => {
  const document = workedCluster(input).render();
  expect(document.diagnostics).toEqual([]);
  const isShown = (name: string): boolean => input.network === 'default' || name.includes('isolatednet_');
  const { network, mode, families } = input;
  return `${TITLES[network]}\nGateway mode: ${mode}. Address families: ${families}.\n\n${northboundText(document.northbound, isShown)}`;
};

it.each(INPUTS)('$network network, $mode gateway mode, $families', async (input) => {
  const { network, mode, families } = input;
  await expect(textOf(input)).toMatchFileSnapshot(`golden/${network}-${mode}-${families}.golden.txt`);
});

it('no reference leads nowhere', () => {
  for (const input of INPUTS) expect(textOf(input)).not.toContain('missing:');
});
