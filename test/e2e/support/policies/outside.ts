/** Policies about addresses: of a host outside of the cluster, of the DNS server, of another namespace. */
import { isIPv6 } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { type Expected, expectAnswers } from '../../../oracles/policies/expected.ts';
import { applyAndWait } from '../cluster/cluster.ts';
import { clusterIps } from '../services/services.ts';
import { networkPolicy, servingPod } from './manifests.ts';
import { attempts, attemptsAt, type Member, POLICY_TENANTS } from './members.ts';
import { app, EVERY, withPolicies } from './with-policies.ts';

const block = (address: string): string => `${address}/${isIPv6(address) ? 128 : 32}`;
const everything = (address: string): string => (isIPv6(address) ? '::/0' : '0.0.0.0/0');
const DNS_EXTERNAL = ['203.0.113.53', '2001:db8:113::53'] as const;

/** As documentation everywhere has it: DNS is pods of kube-system. */
const USUAL_DNS = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
  ],
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
} as const;

/** On node-2: the userspace datapath gives up what comes by an external address for an endpoint on the same node. */
const DNS = [
  servingPod('kube-system', 'dns', 'node-2', { labels: { 'k8s-app': 'kube-dns' }, ports: [53], hostname: 'dns' }),
  {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'kube-system', name: 'kube-dns' } },
    spec: {
      ...{ selector: { 'k8s-app': 'kube-dns' }, ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      externalIPs: DNS_EXTERNAL,
      ports: [
        { name: 'dns', protocol: 'UDP', port: 53 },
        { name: 'dns-tcp', protocol: 'TCP', port: 53 },
      ],
    },
  },
];

/** Call it where tests are declared. */
export const outsidePolicies = (cluster: () => Sandbox, member: (name: string) => Member): void => {
  const outside = async (): Promise<string[]> =>
    (await cluster().status()).outside.map((address) => address.split('/')[0] ?? '');

  const atOutside = async (from: Member, isAllowed: boolean): Promise<Expected[]> =>
    attemptsAt(from, await outside(), isAllowed ? 'outside' : undefined, [
      ['TCP', 8080],
      ['UDP', 8081],
    ]);

  describe.each(POLICY_TENANTS)('blocks in policies of %s', (tenant) => {
    const client = (): Member => member(`${tenant}-client`);

    it('let at a host outside of the cluster, unless it is excepted', async () => {
      const addresses = await outside();
      expect(addresses).toHaveLength(2);
      const to = (except: boolean) =>
        networkPolicy(tenant, 'blocks', {
          podSelector: app('client'),
          policyTypes: ['Egress'],
          egress: [
            {
              to: addresses.map((address) => ({
                ipBlock: { cidr: everything(address), ...(except && { except: [block(address)] }) },
              })),
            },
          ],
        });
      await expectAnswers(cluster(), await atOutside(client(), true));
      await withPolicies(cluster(), [to(true)], async () => {
        await expectAnswers(cluster(), [
          ...(await atOutside(client(), false)),
          ...attempts(client(), member(`${tenant}-server`), true),
        ]);
        await (await cluster().objects()).apply([to(false)]);
        await expectAnswers(cluster(), await atOutside(client(), true));
      });
    });
  });

  it('a selector of namespaces selects those of a network over several', () => {
    const fromData = networkPolicy('shop', 'from-data', {
      podSelector: EVERY,
      ingress: [{ from: [{ namespaceSelector: { matchLabels: { tier: 'shop-data' } } }] }],
    });
    return withPolicies(cluster(), [fromData], () =>
      expectAnswers(cluster(), [
        ...attempts(member('shop-data-client'), member('shop-web'), true),
        ...attempts(member('shop-neighbour'), member('shop-web'), false),
        ...attempts(member('shop-web'), member('shop-data-client'), true),
      ]),
    );
  });

  describe('DNS of pods that may not send', () => {
    beforeAll(() => applyAndWait(cluster(), DNS));
    afterAll(async () => {
      await (await cluster().objects()).delete(DNS, { timeoutSeconds: 30 });
    });

    const only = (tenant: string, egress: readonly object[]) =>
      networkPolicy(tenant, 'only-dns', { podSelector: app('client'), policyTypes: ['Egress'], egress });
    const PORTS = [
      ['UDP', 53],
      ['TCP', 53],
    ] as const;

    it('answers those of the default network whose policy allows its pods, and no others', async () => {
      const servers = await clusterIps(cluster(), 'kube-system/kube-dns');
      const client = member('plain-client');
      await expectAnswers(cluster(), attemptsAt(client, servers, 'dns', PORTS));
      await withPolicies(cluster(), [only('plain', [])], () =>
        expectAnswers(cluster(), attemptsAt(client, servers, undefined, PORTS)),
      );
      await withPolicies(cluster(), [only('plain', [USUAL_DNS])], () =>
        expectAnswers(cluster(), [
          ...attemptsAt(client, servers, 'dns', PORTS),
          ...attempts(client, member('plain-server'), false),
        ]),
      );
    });

    it.each(['red', 'green'])(
      'answers those of %s whose policy allows its addresses: its pods are no peers there',
      async (tenant) => {
        const client = member(`${tenant}-client`);
        const toAddresses = {
          to: DNS_EXTERNAL.map((address) => ({ ipBlock: { cidr: block(address) } })),
          ports: USUAL_DNS.ports,
        };
        await expectAnswers(cluster(), attemptsAt(client, DNS_EXTERNAL, 'dns', PORTS));
        await withPolicies(cluster(), [only(tenant, [USUAL_DNS])], () =>
          expectAnswers(cluster(), attemptsAt(client, DNS_EXTERNAL, undefined, PORTS)),
        );
        await withPolicies(cluster(), [only(tenant, [toAddresses])], () =>
          expectAnswers(cluster(), [
            ...attemptsAt(client, DNS_EXTERNAL, 'dns', PORTS),
            ...attempts(client, member(`${tenant}-server`), false),
          ]),
        );
      },
    );
  });
};
