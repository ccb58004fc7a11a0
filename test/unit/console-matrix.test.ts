/** The matrix of the console and the oracle that packets are compared with say the same of pods. */
import { expect, it } from 'vitest';
import { consoleView } from '../../cli/console/model.ts';
import {
  DEFAULT_ENTRY,
  entry,
  ids,
  nadOf,
  scene,
  settledNetwork,
  settledNode,
  settledPod,
} from '../../cli/why/testing/objects.ts';
import { layer3Udn, tenant } from '../../cluster-manager/testing/objects.ts';
import { mayReach } from '../oracles/reachability/expectation.ts';
import { PODS } from '../oracles/reachability/testing.ts';
import type { ReachabilityPod } from '../oracles/reachability/types.ts';

const TENANTS = ['red', 'blue'];

const tenantObjects = (name: string, index: number): readonly unknown[] => {
  const network = settledNetwork(layer3Udn(`${name}/${name}`, ['10.100.0.0/16']));
  const conf = { topology: 'layer3', subnets: '10.100.0.0/16/24' };
  return [tenant(name), network, nadOf(network, name, conf, { annotations: ids(`${name}_${name}`, index + 1) })];
};

const podObject = ({ key, attachments }: ReachabilityPod): unknown => {
  const [namespace = ''] = key.split('/');
  const own = attachments.find(({ network }) => network !== 'default');
  return settledPod(key, {
    ...DEFAULT_ENTRY,
    ...(own !== undefined && entry(`${namespace}/${namespace}`, `${own.addresses[0]}/24`)),
  });
};

const OBJECTS = [
  ...TENANTS.flatMap(tenantObjects),
  settledNode('node-1'),
  settledNode('node-2'),
  ...PODS.map(podObject),
];

const primaryOf = ({ attachments }: ReachabilityPod) => attachments.find(({ role }) => role === 'primary')!;

const labelOf = (pod: ReachabilityPod, chosen: string): string => {
  const { network } = primaryOf(pod);
  if (network === 'default') return 'default network';
  return network === chosen ? `pods of ${pod.key.split('/')[0]}` : `network ${network}`;
};

it.each(TENANTS.map((name) => `${name}_${name}`))('of network %s', (chosen) => {
  const { matrix } = consoleView(scene(OBJECTS), [], []).detail(chosen)!;
  const pairs = PODS.flatMap((from) => PODS.filter((to) => to !== from).map((to) => ({ from, to })));
  const said = pairs.map(({ from, to }) => {
    const row = matrix.from.findIndex(({ label }) => label === labelOf(from, chosen));
    const column = matrix.to.findIndex(({ label }) => label === labelOf(to, chosen));
    return [from.key, to.key, matrix.cells[row]?.[column]?.reaches];
  });
  const expected = pairs.map(({ from, to }) => [from.key, to.key, mayReach(from, primaryOf(to)) ? 'yes' : 'no']);
  expect(said).toEqual(expected);
  expect(new Set(expected.map(([, , reaches]) => reaches))).toEqual(new Set(['yes', 'no']));
});
