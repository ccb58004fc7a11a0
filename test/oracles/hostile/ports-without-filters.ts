/** What filters of the host's own ports stop: without them, packet sockets reach pods. And the agent puts them back by event. */
import { expect } from 'vitest';
import { FILTER_TABLE, filterChain } from '../../../datapath/netlink/frame-filter/types.ts';
import type { Ip } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { udp } from '../../e2e/support/packets/frames.ts';
import { attack } from './battery.ts';
import { SERVED_PORT } from './cases.ts';
import type { Control } from './controls.ts';
import { DEFAULT_TENANT, type Interface, nearPods, networkOf, type World } from './world.ts';

const GATEWAY_BRIDGE = 'br-ex';

/** @param isKernel its datapath gives Open vSwitch the marks of packets */
export const portsWithoutFilters = async (sandbox: Sandbox, world: World, isKernel: boolean): Promise<void> => {
  const [{ name: node }] = world.nodes;
  const controls = [DEFAULT_TENANT, 'red'].map((tenant) => byManagementPort(world, tenant));
  if (isKernel) controls.push(withMark(world));
  const heard = async (): Promise<readonly string[]> => {
    const { unproved } = await attack(sandbox, world, [], controls);
    return controls.map(({ id }) => id).filter((id) => !unproved.includes(id));
  };
  const ports = [...[DEFAULT_TENANT, 'red'].map((tenant) => portOf(world, tenant).device), GATEWAY_BRIDGE];
  const remove = ports.map((port) => `delete chain netdev ${FILTER_TABLE} ${filterChain(port)}`).join('; ');
  await sandbox.kill(node, 'agent', 'SIGSTOP');
  try {
    await sandbox.node(node, ['nft', remove]);
    expect(await heard()).toEqual(controls.map(({ id }) => id));
  } finally {
    await sandbox.kill(node, 'agent', 'SIGCONT');
  }
  await eventually(async () => {
    const { stdout } = await sandbox.node(node, ['nft', 'list', 'table', 'netdev', FILTER_TABLE]);
    expect(ports.filter((port) => !stdout.includes(`chain ${filterChain(port)} {`))).toEqual([]);
  }, 30_000);
  expect(await heard()).toEqual([]);
};

const portOf = (world: World, tenant: string): Interface => networkOf(world, tenant).managementPort;

/** As the kubelet, or a host-network pod of the tenant. */
const byManagementPort = (world: World, tenant: string): Control => {
  const [{ pod, primary }] = nearPods(world, tenant);
  const { device, mac, addresses } = portOf(world, tenant);
  return {
    id: `packet socket on ${device} → ${pod}`,
    place: world.nodes[0].name,
    heardAt: pod,
    shoot: (payload) => ({ device, frames: [frame(mac, primary.mac, addresses[4], primary.addresses[4], payload)] }),
  };
};

/** The gateway bridge sends what has a network's mark to its Services. */
const withMark = (world: World): Control => {
  const service = world.services.find(({ name }) => name === 'blue/web');
  if (service === undefined) throw new Error('there is no Service blue/web');
  const [{ mac, addresses }] = world.nodes;
  const mark = 0x1000 + Number(portOf(world, 'blue').device.replace('ovn-k8s-mp', ''));
  return {
    id: `packet socket on ${GATEWAY_BRIDGE}, marked → ${service.name}`,
    place: world.nodes[0].name,
    heardAt: 'blue/a',
    shoot: (payload) => ({
      ...{ device: GATEWAY_BRIDGE, mark },
      frames: [frame(mac, '0a:58:00:00:00:01', addresses[4], service.addresses[4], payload)],
    }),
  };
};

const frame = (from: string, to: string, src: Ip, dst: Ip, payload: Buffer): Buffer =>
  udp({ from, to }, { src, dst, payload: payload.toString(), dstPort: SERVED_PORT });
