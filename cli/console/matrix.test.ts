import { describe, expect, it } from 'vitest';
import { layer2Udn, layer3Udn, tenant } from '../../cluster-manager/testing/objects.ts';
import { SAMPLE } from '../graph/testing/sample.ts';
import {
  DEFAULT_ENTRY,
  entry,
  ids,
  nadOf,
  scene,
  settledNetwork,
  settledNode,
  settledPod,
} from '../why/testing/objects.ts';
import { consoleView } from './model.ts';
import type { NetworkDetail } from './types.ts';

const detailOf = (
  objects: readonly unknown[],
  network: string,
  input: Parameters<typeof scene>[1] = {},
): NetworkDetail => {
  const found = consoleView(scene(objects, input), [], []).detail(network);
  if (found === undefined) throw new Error(`no network ${network}`);
  return found;
};

const table = ({ matrix: { from, to, cells } }: NetworkDetail): string[] => [
  `from \\ to | ${to.map(({ label }) => label).join(' | ')}`,
  ...from.map(({ label }, row) => `${label} | ${(cells[row] ?? []).map(({ reaches }) => reaches).join(' | ')}`),
];

describe('who reaches whom', () => {
  it('is as the documents of isolation and Services say', () => {
    expect(table(detailOf(SAMPLE, 'shop_net'))).toMatchInlineSnapshot(`
      [
        "from \\ to | pods of shop | network bank_net | default network | its Services | other Services | API and DNS | outside",
        "pods of shop | yes | no | no | yes | limited | yes | yes",
        "network bank_net | no | yes | no | limited | limited | yes | yes",
        "default network | no | no | yes | limited | limited | yes | yes",
        "processes of nodes | limited | limited | yes | limited | limited | yes | unknown",
        "outside | no | no | no | limited | limited | unknown | unknown",
      ]
    `);
  });

  it('counts members, and what of them is not ready', () => {
    const { matrix } = detailOf(SAMPLE, 'shop_net');
    expect(matrix.from.map(({ label, detail }) => `${label}: ${detail}`)).toMatchInlineSnapshot(`
      [
        "pods of shop: 4 pods, 2 not ready",
        "network bank_net: 1 pod",
        "default network: 0 pods",
        "processes of nodes: not of host-network pods",
        "outside: hosts outside of the cluster",
      ]
    `);
    expect(matrix.to.map(({ label, detail }) => `${label}: ${detail}`)).toContain(
      'its Services: 2, 1 without endpoints',
    );
  });

  it('says of a network that is not ready that it holds later', () => {
    expect(detailOf(SAMPLE, 'bank_net').matrix.notes).toEqual([
      'the network is not ready: the matrix holds once it is ready',
    ]);
  });

  it('says what it does not know', () => {
    const unread = [{ resource: 'pods', what: 'pods', why: 'you may not list them' }];
    expect(detailOf(SAMPLE, 'shop_net', { namespace: 'shop', unread }).matrix.notes).toEqual([
      'only namespace shop was read: other networks may exist',
      'you may not list pods: members and numbers may be missing',
    ]);
  });

  it('gives every reason in words', () => {
    const reasons = detailOf(SAMPLE, 'shop_net').matrix.cells.flat();
    expect(reasons.every(({ why }) => why.length > 10)).toBe(true);
  });
});

describe('a secondary network', () => {
  const secondary = settledNetwork({
    ...layer2Udn('shop/extra', ['10.9.0.0/24']),
    spec: { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.9.0.0/24'] } },
  });
  const nad = nadOf(
    secondary,
    'shop',
    { subnets: '10.9.0.0/24', role: 'secondary' },
    { annotations: ids('shop_extra', 9) },
  );

  it('reaches its own pods, and nothing else', () => {
    const { matrix } = detailOf([tenant('shop'), secondary, nad], 'shop_extra');
    const [own = []] = matrix.cells;
    expect(own.filter(({ reaches }) => reaches === 'yes').map(({ why }) => why)).toEqual([
      'the same network; NetworkPolicies do not apply to it',
    ]);
    expect(own.every(({ reaches }) => reaches === 'yes' || reaches === 'no')).toBe(true);
  });
});

it('is bounded: many networks are few columns', () => {
  const names = Array.from({ length: 30 }, (_, index) => `t${index}`);
  const networks = names.map((name) => settledNetwork(layer3Udn(`${name}/net`, ['10.100.0.0/16'])));
  const objects = [
    ...names.map((name) => tenant(name)),
    ...networks,
    ...networks.map((network, index) =>
      nadOf(
        network,
        names[index] ?? '',
        { topology: 'layer3', subnets: '10.100.0.0/16/24' },
        { annotations: ids(`${names[index]}_net`, index + 1) },
      ),
    ),
  ];
  const { matrix } = detailOf(objects, 't0_net');
  expect(matrix.to.map(({ label }) => label)).toContain('21 more networks');
  expect(matrix.to.length).toBeLessThan(16);
});

it('pods that wait come first, and the rest is counted', () => {
  const network = settledNetwork(layer2Udn('red/net', ['10.100.0.0/16']));
  const pods = Array.from({ length: 120 }, (_, index) =>
    settledPod(
      `red/p${String(index).padStart(3, '0')}`,
      index === 119 ? DEFAULT_ENTRY : { ...DEFAULT_ENTRY, ...entry('red/net', `10.100.0.${index + 4}/16`) },
    ),
  );
  const detail = detailOf([tenant('red'), network, nadOf(network, 'red'), settledNode('n1'), ...pods], 'red_net');
  expect(detail.morePods).toBe(20);
  expect(detail.pods[0]).toMatchObject({ pod: 'red/p119', state: 'waiting' });
});
