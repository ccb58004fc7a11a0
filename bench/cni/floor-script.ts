/**
 * What the floor does for a pod: the transactions and the netlink requests of the agent, in the order in which they take
 * the least time. The kernel's requests are those that the agent's plan has for a new pod, so that none is forgotten.
 */
import type { PortSpec } from '../../agent/cni/ovs-ports.ts';
import type { Plumbing } from '../../agent/cni/plumbing.ts';
import { plugOperations } from '../../agent/cni/vswitch-operations.ts';
import { putAddress } from '../../datapath/netlink/address/codec.ts';
import type { KernelOp } from '../../datapath/netlink/kernel/types.ts';
import { addVeth, setAddrGenMode, setLink } from '../../datapath/netlink/link/codec.ts';
import { NOTHING } from '../../datapath/netlink/pod-interface/observe.ts';
import { planPod } from '../../datapath/netlink/pod-interface/plan.ts';
import { putRoute } from '../../datapath/netlink/route/codec.ts';
import { NLM_F } from '../../datapath/netlink/wire/constants.ts';
import { formatRequest } from '../../datapath/netlink/wire/message.ts';
import type { NamedRequest } from '../../datapath/netlink/wire/socket.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';

/** `BASE` of native/floor.c. */
const NETNS_FD_BASE = 200;

/** What the floor is to do for one pod. */
export interface FloorWork {
  readonly plumbing: Plumbing;
  /** The transaction that makes the pod's logical ports; empty when they are there already. */
  readonly northbound: readonly Operation[];
}

/**
 * A line per step of `native/floor.c`, without the last, `go`. Logical ports come first, because northd and ovn-controller
 * need the longest. The ports of OVS are sent as soon as the links are there, so that OVS and OVN work while the pods' ends
 * are configured; nothing is waited for before everything is sent.
 * @param firstIndex what the kernel calls the first new link of a pod's namespace
 */
export const floorScript = (works: readonly FloorWork[], firstIndex: number): string[] => {
  const pods = works.map(({ plumbing }) => plumbing);
  return [
    ...works.flatMap(({ northbound }) =>
      northbound.length === 0 ? [] : [`transact\tnb\t${JSON.stringify(['OVN_Northbound', ...northbound])}`],
    ),
    ...pods.flatMap(({ network, ports }, slot) => {
      const node = stepsOf(network, 'node', slot, firstIndex);
      return [`netns\t${slot}\t${network.netns}`, ...node, `transact\tovs\t${plugTransaction(ports)}`];
    }),
    ...pods.flatMap(({ network }, slot) => stepsOf(network, 'pod', slot, firstIndex)),
    'committed',
    ['installed', ...pods.flatMap(({ ports }) => ports.map(({ name }) => name))].join('\t'),
  ];
};

const plugTransaction = (ports: readonly PortSpec[]): string =>
  JSON.stringify(['Open_vSwitch', ...plugOperations(ports)]);

const stepsOf = (network: Plumbing['network'], where: 'pod' | 'node', slot: number, firstIndex: number): string[] => {
  const indexes = new Map(network.interfaces.map(({ name }, index) => [name, firstIndex + index]));
  const ops = planPod(network, NOTHING)
    .filter((stage) => stage.where === where)
    .flatMap((stage) => stage.ops)
    // Filters of links are isolation, which the floor has none of.
    .filter(({ op }) => op !== 'filter.put');
  const steps: string[] = [];
  const waiting: NamedRequest[] = [];
  const send = (): void => {
    if (waiting.length > 0) steps.push(`netlink\t${where === 'pod' ? slot : '-'}\t${encode(waiting.splice(0))}`);
  };
  for (const op of ops) {
    if (op.op === 'sysctl.set') {
      send();
      steps.push(`sysctl\t${slot}\t${op.key}\t${op.value}`);
    } else if (op.op === 'link.txChecksum') {
      send();
      steps.push(`checksum\t${slot}\t${op.name}\t${op.on ? 1 : 0}`);
    } else waiting.push(requestOf(op, indexes, NETNS_FD_BASE + slot));
  }
  send();
  return steps;
};

const requestOf = (op: KernelOp, indexes: ReadonlyMap<string, number>, netnsFd: number): NamedRequest => {
  switch (op.op) {
    case 'link.add':
      return addVeth(op.link, netnsFd);
    case 'link.set':
      return setLink(op.name, op.change);
    case 'link.addrGenMode':
      return setAddrGenMode(op.name, op.mode);
    case 'address.put':
      return putAddress(op.address, indexes.get(op.address.link) ?? 0);
    case 'route.put':
      return putRoute(op.route, indexes.get(op.route.dev ?? ''));
    default:
      throw new Error(`a new pod needs no ${op.op}`);
  }
};

/** The last one asks for an acknowledgement. */
const encode = (requests: readonly NamedRequest[]): string =>
  Buffer.concat(
    requests.flatMap((request, index) => {
      const ack = index === requests.length - 1 ? NLM_F.ACK : 0;
      return formatRequest({ ...request, flags: request.flags | NLM_F.REQUEST | ack }, index + 1);
    }),
  ).toString('hex');
