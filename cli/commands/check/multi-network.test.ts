import { expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../../kube/types.ts';
import { checkMultiNetwork } from './multi-network.ts';

/** @param objects by `namespace/name` @param daemonSets names of more of them */
const cluster = (objects: Readonly<Record<string, object>>, daemonSets: readonly string[]): KubeClient =>
  ({
    get: (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      const found = objects[`${namespace}/${name}`];
      return found === undefined
        ? Promise.reject(new KubeError('ERR_KUBE_STATUS', `no ${name}`, { status: 404, reason: 'NotFound' }))
        : Promise.resolve(found as KubeObject);
    },
    list: () => Promise.resolve({ items: daemonSets.map((name) => ({ metadata: { name } })) }),
  }) as unknown as KubeClient;

const agent = (container: object) => ({
  'ovn-udn/udn-agent': { spec: { template: { spec: { containers: [container] } } } },
});
const SETTINGS = { envFrom: [{ configMapRef: { name: 'settings' } }] };
const settings = (mode: string) => ({ 'ovn-udn/settings': { data: { UDN_MULTI_NETWORK: mode } } });

it.each<[string, object, readonly string[], RegExp | undefined]>([
  ['no agents', {}, ['kube-multus-ds'], undefined],
  ['native without Multus', agent({}), ['kube-proxy', 'multus2'], undefined],
  [
    'native beside Multus',
    agent({}),
    ['kube-multus-ds'],
    /^--multi-network=native, and kube-multus-ds is in the cluster/,
  ],
  ['delegated under Multus', agent({ args: ['--multi-network=delegated'] }), ['multus'], undefined],
  ['delegated by settings', { ...agent(SETTINGS), ...settings('delegated') }, ['multus'], undefined],
  [
    'delegated without Multus',
    { ...agent(SETTINGS), ...settings('delegated') },
    [],
    /^--multi-network=delegated, and there is no DaemonSet of Multus/,
  ],
  [
    'native by a variable, whatever settings say',
    { ...agent({ ...SETTINGS, env: [{ name: 'UDN_MULTI_NETWORK', value: 'native' }] }), ...settings('delegated') },
    ['multus'],
    /^--multi-network=native/,
  ],
])('%s', async (_, objects, daemonSets, message) => {
  const found = await checkMultiNetwork(cluster(objects as Record<string, object>, daemonSets), 'ovn-udn');
  expect(found.map(({ result, message: text }) => [result, text])).toEqual(
    message === undefined ? [] : [['warning', expect.stringMatching(message)]],
  );
});
