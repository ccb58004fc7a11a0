/**
 * What who may write objects of a namespace could make of names and annotations: ports and addresses that are not the pod's to have.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../../../api/names.ts';
import { FAMILIES, type Ip, parseIp } from '../../../net/ip.ts';
import { macFromIp } from '../../../net/mac.ts';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import type { ReachabilityPod } from '../../oracles/reachability/types.ts';
import { applyAndWait, readPod } from '../support/cluster/cluster.ts';
import { layer2, layer3, nad, namespace, plainNamespace, pod } from '../support/cluster/manifests.ts';
import { eventsOf } from '../support/faults/events.ts';
import { outside, pings } from '../support/networks/north-south.ts';
import { addressesOf } from '../support/packets/packets.ts';

export const hostileObjects = (cluster: () => Sandbox): void => {
  const NODE = 'node-1';
  const HONEST = ['plain/a', 'plain/b', 'red/a', 'green/a'];
  const nodeOf = (key: string): string => (key.endsWith('/b') ? 'node-2' : NODE);
  const honest = new Map<string, ReachabilityPod>();

  beforeAll(async () => {
    await applyAndWait(cluster(), [
      ...['red', 'green'].map((name) => namespace(name)),
      ...['plain', 'br-ex', 'join'].map(plainNamespace),
      layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
      layer2('green', 'net', ['10.82.0.0/16', 'fd00:82::/64']),
      ...HONEST.map((key) => pod(key.split('/')[0] ?? '', key.split('/')[1] ?? '', nodeOf(key))),
    ]);
    for (const key of HONEST) honest.set(key, await readPod(cluster(), key));
    // Who leaves first asks for the neighbour first.
    await eventually(async () => expect(await reachOutside()).toEqual(EVERYBODY));
  });

  const reachOutside = async (): Promise<readonly string[]> => {
    const pairs = HONEST.flatMap((key) => FAMILIES.map((family) => ({ key, family })));
    const reached = await Promise.all(pairs.map(({ key, family }) => pings(cluster(), key, outside(family))));
    return pairs.filter((_, index) => reached[index] === true).map(({ key, family }) => `${key} IPv${family}`);
  };
  const EVERYBODY = HONEST.flatMap((key) => FAMILIES.map((family) => `${key} IPv${family}`));

  describe('annotations that name what is not the pod’s', () => {
    const first = (key: string): Ip => addressesOf(honest.get(key) as ReachabilityPod)[0] as Ip;
    /** The same host part in the same subnet. */
    const beside = (ip: Ip, host: number): Ip => parseIp(`${ip.split('.').slice(0, 3).join('.')}.${host}`);
    /** By namespace, which says the network. */
    const claims = (): readonly (readonly [string, string, Ip])[] =>
      (['plain', 'red', 'green'] as const).flatMap((tenant) => {
        const own = first(`${tenant}/a`);
        return [
          [tenant, 'gateway', beside(own, 1)],
          [tenant, 'management-port', beside(own, 2)],
          [tenant, 'multicast', parseIp('224.0.0.5')],
          [tenant, 'cluster-ip', parseIp('10.96.0.1')],
          [tenant, 'outside', parseIp('172.20.0.2')],
          [tenant, 'loopback', parseIp('127.0.0.1')],
          ...(tenant === 'plain' ? ([[tenant, 'other-node', first('plain/b')]] as const) : []),
        ] as const;
      });

    const claiming = ([tenant, name, ip]: readonly [string, string, Ip]): ManifestObject => {
      const address = `${ip}/${tenant === 'green' ? 16 : 24}`;
      const entry = { ip_addresses: [address], mac_address: macFromIp(ip), ip_address: address, role: 'primary' };
      const key = tenant === 'plain' ? 'default' : `${tenant}/net`;
      const networks = { [key]: { ...entry, ...(tenant === 'green' && { tunnel_id: 900 }) } };
      return pod(tenant, name, NODE, { [POD_ANNOTATIONS.networks]: JSON.stringify(networks) });
    };

    it('get no port, and the pod gets an event', async () => {
      const all = claims();
      await (await cluster().objects()).apply(all.map(claiming));
      const unreported = async (): Promise<readonly string[]> => {
        const reported = all.map(async ([tenant, name]) => {
          const events = await eventsOf(cluster(), tenant, name);
          return events.some(({ type }) => type === 'Warning') ? [] : [`${tenant}/${name}`];
        });
        return (await Promise.all(reported)).flat();
      };
      await expectEventually(unreported);
      const { stdout } = await cluster().node(NODE, [
        'ovn-nbctl',
        '--bare',
        '--columns=name',
        'list',
        'Logical_Switch_Port',
      ]);
      const ports = stdout
        .split('\n')
        .filter((port) => all.some(([tenant, name]) => port.endsWith(`${tenant}_${name}`)));
      expect(ports).toEqual([]);
      expect(await reachOutside()).toEqual(EVERYBODY);
    });
  });

  describe('names of infrastructure', () => {
    const netConf = {
      cniVersion: '1.1.0',
      name: 'red',
      type: 'ovn-k8s-cni-overlay',
      topology: 'layer3',
      role: 'primary',
    };

    it.each([
      ['the port of the gateway bridge', [pod('br-ex', 'node-1', NODE), pod('br-ex', 'node-2', 'node-2')]],
      [
        'the port between nodes',
        [
          namespace('odd'),
          nad('odd', 'red', { ...netConf, netAttachDefName: 'odd/red', subnets: '10.90.0.0/16/24,fd00:90::/48/64' }),
          pod('odd', 'a', NODE),
          pod('red', 'tstor-node-2', NODE),
        ],
      ],
    ])('%s: a pod with its name takes nothing away', async (_, manifests) => {
      const objects = await cluster().objects();
      await objects.apply(manifests);
      const pods = manifests.filter(({ kind }) => kind === 'Pod');
      // Whatever becomes of it: it runs, or gets the reason why not.
      const fates = await Promise.allSettled(
        pods.map(({ metadata: { namespace: inNamespace = '', name = '' } }) =>
          Promise.any([
            objects.wait('Pod', `${inNamespace}/${name}`, 'ready', { timeoutSeconds: 30 }),
            eventually(async () => expect(await eventsOf(cluster(), inNamespace, name)).not.toEqual([]), 30_000),
          ]),
        ),
      );
      await eventually(async () => expect(await reachOutside()).toEqual(EVERYBODY));
      expect(fates.map(({ status }) => status)).toEqual(pods.map(() => 'fulfilled'));
      const { stdout } = await cluster().node(NODE, [
        'ovn-nbctl',
        '--format=json',
        '--columns=name,ports',
        'list',
        'Logical_Switch',
      ]);
      const members = [...stdout.matchAll(/\["uuid","([0-9a-f-]+)"\]/g)].map(([, uuid]) => uuid);
      expect(members.length).toBe(new Set(members).size);
      await objects.delete(pods, { timeoutSeconds: 30 });
    });
  });

  const expectEventually = (left: () => Promise<readonly string[]>): Promise<void> =>
    eventually(async () => expect(await left()).toEqual([]), 20_000);
};
