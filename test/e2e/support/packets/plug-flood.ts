/** Datagrams of a node's process to addresses that pods are about to get: what comes in before isolation does. */
import { expect, it } from 'vitest';
import { addressAt, parseCidr } from '../../../../net/cidr.ts';
import type { Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { readPods } from '../../../oracles/reachability/measure.ts';
import { applyAndWait, deletePods } from '../cluster/cluster.ts';
import { pod } from '../cluster/manifests.ts';

const NODE = 'node-1';
const PODS = 8;
const PORT = 9;

/** Until its input ends; then it says how many it has sent. */
const FLOOD = `
import os, select, socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
addresses = sys.argv[1:]
sent = 0
stop = '/tmp/plug-flood.stop'
if os.path.exists(stop):
    os.unlink(stop)
print('started', flush=True)
while not os.path.exists(stop):
    for address in addresses:
        try:
            sock.sendto(b'flood', (address, ${PORT}))
            sent += 1
        except OSError:
            pass
os.unlink(stop)
`;

/** Call it where tests are declared. @param tenant and a namespace of the default network, which proves that the flood comes */
export const plugFlood = (cluster: () => Sandbox, tenant: string, plain: string): void => {
  it('what the host sends to a pod that is just being plugged does not reach it', async () => {
    const { stdout } = await cluster().node(NODE, [
      'sh',
      '-c',
      'ip -4 -o addr show dev ovn-k8s-mp0 | grep -o "inet [0-9./]*"',
    ]);
    const [address = '', length = ''] = stdout.trim().replace('inet ', '').split('/');
    const subnet = parseCidr(`${address.split('.').slice(0, 3).join('.')}.0/${length}`);
    const used = (await readPods(await cluster().objects())).flatMap(({ attachments }) =>
      attachments.flatMap((one) => one.addresses),
    );
    const free = Array.from({ length: 120 }, (_, index) => addressAt(subnet, 3 + index)).filter(
      (ip: Ip) => !used.includes(ip),
    );
    const flood = cluster().node(NODE, ['python3', '-c', FLOOD, ...free.slice(0, 2 * PODS + 8)], {
      timeoutMs: 120_000,
    });
    const names = Array.from({ length: PODS }, (_, index) => `plugged-${index}`);
    const keys = [...names.map((name) => `${tenant}/${name}`), `${plain}/plugged`];
    try {
      await applyAndWait(
        cluster(),
        keys.map((key) => pod(key.split('/')[0] ?? '', key.split('/')[1] ?? '', NODE)),
      );
    } finally {
      await cluster().node(NODE, ['touch', '/tmp/plug-flood.stop']);
      await flood;
    }
    const counts = await Promise.all(keys.map(async (key) => [key, await datagramsOf(cluster(), key)] as const));
    await deletePods(cluster(), ...keys);
    expect(Object.fromEntries(counts)[`${plain}/plugged`]).toBeGreaterThan(0);
    expect(counts.filter(([key, count]) => key.startsWith(`${tenant}/`) && count > 0)).toEqual([]);
  });
};

/** proc(5): all that came, for a socket or for none. Nothing else sends datagrams to such a pod. */
const datagramsOf = async (sandbox: Sandbox, key: string): Promise<number> => {
  const { stdout } = await sandbox.exec(key, ['sh', '-c', 'grep ^Udp: /proc/net/snmp']);
  const [names = [], values = []] = stdout.split('\n').map((line) => line.split(' '));
  return ['InDatagrams', 'NoPorts'].reduce((sum, name) => sum + Number(values[names.indexOf(name)] ?? 0), 0);
};
