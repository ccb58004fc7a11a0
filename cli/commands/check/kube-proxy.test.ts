import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../../kube/types.ts';
import { checkKubeProxy, checkNodeProxy, type NodeTraces } from './kube-proxy.ts';

const nothing: NodeTraces = {
  chains: () => Promise.resolve(new Map([['inet ovn-udn', ['udn-isolation']]])),
  links: () => ['lo', 'eth0'],
  processes: () => ['systemd', 'kubelet'],
};
const onNode = async (more: Partial<NodeTraces> = {}) =>
  (await checkNodeProxy({ ...nothing, ...more })).map(({ result, message }) => `${result}: ${message?.split(': ')[0]}`);
const tables = (...entries: [string, string[]][]) => ({ chains: () => Promise.resolve(new Map(entries)) });

describe('a node', () => {
  it('without a trace of kube-proxy is no finding', async () => expect(await onNode()).toEqual([]));

  it('with chains of the kubelet alone is none, either', async () =>
    expect(await onNode(tables(['ip mangle', ['KUBE-KUBELET-CANARY', 'KUBE-IPTABLES-HINT']]))).toEqual([]));

  it.each<[string, Partial<NodeTraces>, string]>([
    ['that runs', { processes: () => ['kube-proxy'] }, 'it runs'],
    [
      'of nftables',
      tables(['ip kube-proxy', []], ['ip6 kube-proxy', ['a']]),
      'it has nftables table ip kube-proxy, nftables table ip6 kube-proxy',
    ],
    ['of iptables', tables(['ip nat', ['PREROUTING', 'KUBE-SERVICES']]), 'it has chain KUBE-SERVICES in table ip nat'],
    [
      'of ipvs',
      { links: () => ['kube-ipvs0'], processes: () => ['kube-proxy'] },
      'it runs, and it has link kube-ipvs0',
    ],
  ])('with one %s is a warning', async (_, more, expected) =>
    expect(await onNode(more)).toEqual([`warning: ${expected}`]),
  );

  it('that cannot be inspected says so', async () =>
    expect(await onNode({ chains: () => Promise.reject(new Error('no nft')) })).toEqual(['unknown: no nft']));
});

const daemonSet = (env: object) => ({ spec: { template: { spec: { containers: [env] } } } });
/** By `namespace/name`. */
const cluster = (objects: Readonly<Record<string, object>>): KubeClient =>
  ({
    get: (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      const found = objects[`${namespace}/${name}`];
      return found === undefined
        ? Promise.reject(new KubeError('ERR_KUBE_STATUS', 'none', { status: 404, reason: 'NotFound' }))
        : Promise.resolve(found as KubeObject);
    },
  }) as unknown as KubeClient;

describe('a cluster', () => {
  it.each<[string, Readonly<Record<string, object>>, string, RegExp]>([
    ['with its DaemonSet', { 'kube-system/kube-proxy': {} }, 'warning', /^it runs and is not needed/],
    ['with none', {}, 'warning', /^no DaemonSet: without it the agents need a direct path/],
    [
      'with none, and agents that know the address',
      { 'ovn-udn/udn-agent': daemonSet({ env: [{ name: 'KUBERNETES_SERVICE_HOST' }] }) },
      'ok',
      /^$/,
    ],
    [
      "with none, and agents that read the kubelet's kubeconfig",
      { 'ovn-udn/udn-agent': daemonSet({ args: ['--kubelet-kubeconfig=/etc/kubernetes/kubelet.conf'] }) },
      'ok',
      /^$/,
    ],
    [
      'with none, and agents that read nothing',
      { 'ovn-udn/udn-agent': daemonSet({ args: ['--metrics-address=127.0.0.1:9410'] }) },
      'warning',
      /--kubelet-kubeconfig/,
    ],
    [
      'with none, and settings that know it',
      {
        'ovn-udn/udn-agent': daemonSet({ envFrom: [{ configMapRef: { name: 'settings' } }] }),
        'ovn-udn/settings': { data: { KUBERNETES_SERVICE_HOST: '192.0.2.10' } },
      },
      'ok',
      /^$/,
    ],
  ])('%s', async (_, objects, result, message) => {
    const found = await checkKubeProxy(cluster(objects), 'ovn-udn');
    expect(found.result).toBe(result);
    expect(found.message ?? '').toMatch(message);
  });
});
