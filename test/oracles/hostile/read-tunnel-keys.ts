/** Keys of logical switches and ports, as the other node's OVN has them: small numbers, which anybody can guess. */
import { z } from 'zod';
import type { Sandbox } from '../../../sandbox/index.ts';
import { nodeOf, PODS } from './cast.ts';
import { DEFAULT_TENANT, type KnownTunnelKey } from './world.ts';

/** RFC 7047 §5.1: atoms, and pairs of a type and a value. */
const tableSchema = z.object({ data: z.array(z.array(z.unknown())) });
const datapathSchema = z.tuple([z.tuple([z.string(), z.string()]), z.number()]);
const portSchema = z.tuple([z.string(), z.number(), z.tuple([z.string(), z.string()])]);

export const readTunnelKeys = async (sandbox: Sandbox, node: string): Promise<readonly KnownTunnelKey[]> => {
  const list = async (columns: string, table: string): Promise<unknown[][]> => {
    const argv = ['ovn-sbctl', '--format=json', `--columns=${columns}`, 'list', table];
    return tableSchema.parse(JSON.parse((await sandbox.node(node, argv)).stdout)).data;
  };
  const [datapaths, ports] = await Promise.all([
    list('_uuid,tunnel_key', 'Datapath_Binding'),
    list('logical_port,tunnel_key,datapath', 'Port_Binding'),
  ]);
  const vnis = new Map(datapaths.map((row) => datapathSchema.parse(row)).map(([[, uuid], key]) => [uuid, key]));
  return ports
    .map((row) => portSchema.parse(row))
    .flatMap(([name, egress, [, datapath]]) => {
      const vni = vnis.get(datapath);
      const pod = PODS.filter((key) => nodeOf(key) === node).find((key) => name.endsWith(portName(key)));
      if (vni === undefined || pod === undefined) return [];
      const isLocked = name === portName(pod) && !pod.startsWith(`${DEFAULT_TENANT}/`);
      return [{ pod, isLocked, vni, egress }];
    });
};

/** On the default network; that of another one has the network's name in front. */
const portName = (key: string): string => key.replace('/', '_');
