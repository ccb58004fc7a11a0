/** Nothing is left of networks that are deleted, and nobody else notices: the same in both gateway modes. */
import { beforeAll, describe, expect, it } from 'vitest';
import { networkCtMark } from '../../../../agent/model/registry/marks.ts';
import { RULE_PRIORITIES, vrfTable } from '../../../../agent/model/registry/routing.ts';
import { parseNetworkId } from '../../../../net/ids.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod } from '../cluster/cluster.ts';
import { note } from '../faults/survive.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { streamWhile } from '../packets/stream.ts';
import {
  connectionsOfGone,
  doctor,
  idOf,
  marksSeen,
  NODE,
  NODES,
  patience,
  podsOf,
  tenants,
  untilNothingIsLeft,
  untilSeenOutside,
} from '../state/gone-networks.ts';
import { type NodeDump, settledDump } from '../state/node-dump.ts';
import { rowsNaming } from '../state/rows.ts';

export interface Deletion {
  /** Pods of a network, on two nodes: a connection between them has to stay whole. */
  readonly stays: { readonly from: string; readonly to: string };
  /** How many networks come and go at the same time; 0: none do. */
  readonly many: number;
  /** Connections of networks pass the gateway bridge with a mark. In local gateway mode they are the host's there. */
  readonly hasMarks: boolean;
}

/** Call it where tests are declared. */
export const networkDeletion = (cluster: () => Sandbox, { stays, many, hasMarks }: Deletion): void => {
  describe('of networks that are deleted', () => {
    const before = new Map<string, NodeDump>();
    const goes = (name: string, ids: readonly number[] = []): Promise<void> =>
      untilNothingIsLeft(cluster(), before, name, ids.map(parseNetworkId));

    beforeAll(async () => {
      await untilSeenOutside(cluster(), stays.from);
      for (const node of NODES) before.set(node, await settledDump(cluster(), node, await patience(cluster())));
    });

    const streamDuring = async (work: () => Promise<void>): Promise<string> => {
      const to = addressOfFamily(await readPod(cluster(), stays.to), 4);
      return await streamWhile(cluster(), { from: stays.from, to }, work);
    };

    it('nothing is left on any node, not even connections; others go on', async () => {
      const { networks, pods } = tenants(2, 'gone');
      const stream = await streamDuring(async () => {
        await applyAndWait(cluster(), [...networks, ...podsOf(pods)]);
        const ids: number[] = [];
        for (const tenant of ['gone0', 'gone1']) {
          await untilSeenOutside(cluster(), `${tenant}/a`);
          ids.push(await idOf(cluster(), tenant));
        }
        const marks = ids.map((id) => networkCtMark(parseNetworkId(id)));
        if (hasMarks) expect(await marksSeen(cluster())).toEqual(expect.arrayContaining(marks));
        expect((await connectionsOfGone(cluster(), ids)).length).toBeGreaterThan(0);
        expect(await rowsNaming(cluster(), NODE, 'gone0')).not.toEqual([]);
        await deletePods(cluster(), ...pods);
        await (await cluster().objects()).delete(networks);
        await goes('gone', ids);
      });
      expect(stream).toBe('whole');
    });

    if (many > 0) {
      it(`${many} that come and go at the same time leave nothing, and keep nobody waiting`, async () => {
        const { networks, pods } = tenants(many, 'many');
        const some = pods.slice(0, 8);
        const late = tenants(1, 'newcomer');
        const stream = await streamDuring(async () => {
          await applyAndWait(cluster(), [...networks, ...podsOf(some)]);
          await deletePods(cluster(), ...some);
          await (await cluster().objects()).delete(networks);
          // Nobody waits for it: another one comes meanwhile.
          const start = performance.now();
          await applyAndWait(cluster(), [...late.networks, ...podsOf(late.pods)]);
          await untilSeenOutside(cluster(), 'newcomer0/a');
          const seconds = (performance.now() - start) / 1000;
          note(`another network works after ${seconds.toFixed(1)} s`);
          expect(seconds).toBeLessThan(15 * (await cluster().slowdown()));
          await deletePods(cluster(), ...late.pods);
          await (await cluster().objects()).delete(late.networks);
          for (const name of ['many', 'newcomer']) await goes(name);
        });
        expect(stream).toBe('whole');
      });
    }

    it('udnctl doctor lists what is planted, removes it when it is to, and then finds nothing', async () => {
      await eventually(async () => expect(await doctor(cluster())).toMatchObject({ status: 0 }), 60_000);
      for (const command of PLANTED) await cluster().node(NODE, ['sh', '-ec', command]);
      const dry = await doctor(cluster());
      expect(dry.status).toBe(1);
      expect(dry.stdout).toContain('left: link stale0');
      expect(dry.stdout).toContain(`connections with ct mark 0x${networkCtMark(STALE).toString(16)} in zone 64000`);
      expect(await marksSeen(cluster())).toContain(networkCtMark(STALE));
      expect((await cluster().node(NODE, ['ip', '-o', 'link', 'show', 'stale0'])).stdout).toContain('stale0');
      expect(await doctor(cluster(), '--fix')).toMatchObject({ status: 0 });
      expect(await doctor(cluster())).toEqual({
        stdout: 'no leftovers of deleted networks and pods\n',
        stderr: '',
        status: 0,
      });
      await goes('stale', [STALE]);
    });
  });
};

/** Of no network. */
const STALE = parseNetworkId(777);
/** A packet of its own through the connection tracker. */
const FIELDS = 'dl_type=0x0800,nw_proto=17,nw_src=192.0.2.1,nw_dst=192.0.2.2,nw_ttl=64,udp_src=7,udp_dst=8';
const COMMIT = `ct(commit,zone=64000,exec(set_field:${networkCtMark(STALE)}->ct_mark))`;
const PLANTED = [
  `ip rule add priority ${RULE_PRIORITIES.network} fwmark 0x777 lookup ${vrfTable(STALE)} protocol 85`,
  `ip route add blackhole 192.0.2.0/24 table ${vrfTable(STALE)} proto 85`,
  'ip link add stale0 type veth peer name stale1',
  `ip link set stale0 group 7693422 alias ovn-udn:${'f'.repeat(64)}:eth0:nobody`,
  `packet=$(ovs-ofctl compose-packet --bare "${FIELDS}")
   ovs-ofctl -O OpenFlow15 packet-out br-ex "in_port=LOCAL packet=$packet actions=${COMMIT}"`,
];
