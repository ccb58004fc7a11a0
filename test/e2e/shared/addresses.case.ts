/** Addresses that were asked for, with packets: where the gateway is, and what a claim keeps. */
import { describe, expect, it } from 'vitest';
import { IPAM_CLAIM_API_VERSION, POD_ANNOTATIONS, UDN_API_VERSION } from '../../../api/names.ts';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods } from '../support/cluster/cluster.ts';
import { namespace, pod } from '../support/cluster/manifests.ts';

export const askedAddresses = (cluster: () => Sandbox): void => {
  const network: ManifestObject = {
    apiVersion: UDN_API_VERSION,
    kind: 'UserDefinedNetwork',
    metadata: { name: 'net', namespace: 'red' },
    spec: {
      topology: 'Layer2',
      layer2: {
        role: 'Primary',
        subnets: ['10.70.0.0/16', 'fd00:70::/64'],
        infrastructureSubnets: ['10.70.8.0/28', 'fd00:70::8:0/112'],
        reservedSubnets: ['10.70.9.0/24'],
        ipam: { lifecycle: 'Persistent' },
      },
    },
  };

  const claim: ManifestObject = {
    apiVersion: IPAM_CLAIM_API_VERSION,
    kind: 'IPAMClaim',
    metadata: { name: 'web', namespace: 'red' },
    spec: { network: 'red_net', interface: 'ovn-udn1' },
  };

  const asking = (fields: object): Readonly<Record<string, string>> => ({
    [POD_ANNOTATIONS.defaultNetwork]: JSON.stringify([{ namespace: 'ovn-kubernetes', name: 'default', ...fields }]),
  });

  const IPS = ['10.70.9.9', 'fd00:70::99'];
  const MAC = '02:00:00:00:70:09';

  describe('a pod with a claim', () => {
    /** Address and MAC of the pod's primary interface, as its kernel has them. */
    const interfaceOf = async (key: string): Promise<readonly string[]> => {
      const { stdout } = await cluster().exec(key, ['ip', '-j', 'addr', 'show', 'dev', 'ovn-udn1']);
      const { address, addr_info: addresses } = JSON.parse(stdout)[0] as {
        address: string;
        addr_info: { local: string; scope: string }[];
      };
      return [...addresses.filter(({ scope }) => scope === 'global').map(({ local }) => local), address];
    };

    const reaches = (from: string, to: readonly string[]): Promise<unknown> =>
      eventually(async () => {
        for (const ip of to) {
          const host = ip.includes(':') ? `[${ip}]` : ip;
          await cluster().exec(from, ['curl', '-sfgm2', `http://${host}:8080/hostname`]);
        }
      }, 60_000);

    it('has what it asked for, and its gateway in the infrastructure subnets', async () => {
      const first = pod('red', 'first', 'node-1', asking({ ips: IPS, mac: MAC, 'ipam-claim-reference': 'web' }));
      await applyAndWait(cluster(), [namespace('red'), network, claim, first, pod('red', 'other', 'node-2')]);
      expect(await interfaceOf('red/first')).toEqual([...IPS, MAC]);
      const { stdout } = await cluster().exec('red/first', ['ip', 'route', 'show', 'default']);
      expect(stdout).toContain('via 10.70.8.1 dev ovn-udn1');
      await reaches('red/other', IPS);
      for (const gateway of ['10.70.8.1', 'fd00:70::8:1']) {
        await eventually(() => cluster().exec('red/first', ['ping', '-c1', '-W2', gateway]), 60_000);
      }
      // Without VRFs the management port has no address, but the MAC that comes of it.
      const link = await cluster().node('node-1', ['ip', '-o', 'link', 'show', 'ovn-k8s-mp1']);
      expect(link.stdout).toContain('0a:58:0a:46:08:02');
    });

    it('leaves it to the next one, which is reached on another node', async () => {
      await deletePods(cluster(), 'red/first');
      const second = pod('red', 'second', 'node-2', asking({ mac: MAC, 'ipam-claim-reference': 'web' }));
      await applyAndWait(cluster(), [pod('red', 'stranger', 'node-1'), second]);
      expect(await interfaceOf('red/second')).toEqual([...IPS, MAC]);
      await reaches('red/stranger', IPS);
      await reaches('red/other', IPS);
      expect(await interfaceOf('red/stranger')).not.toContain(IPS[0]);
    });
  });
};
