/** A node in memory: a kernel, and an Open vSwitch that does at once what its database says. */
import { FakeKernel } from '../../../datapath/netlink/fake/fake-kernel.ts';
import type { KernelOp } from '../../../datapath/netlink/kernel/types.ts';
import { type Route, route, routeKey } from '../../../datapath/netlink/route/types.ts';
import { type Cidr, parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { FAMILIES, parseIp } from '../../../net/ip.ts';
import { type Mac, parseMac } from '../../../net/mac.ts';
import type { Uuid } from '../../../ovsdb/uuid.ts';
import { formatMoveRecord, MOVE_KEY, type MoveRecord } from './move-record.ts';
import type { Bridge, HostSnapshot, UplinkEffects, UplinkStep, World } from './types.ts';

export const NIC = 'eth0';
export const NIC_MAC = parseMac('02:00:00:00:00:0b');
export const MASQUERADE: readonly Cidr[] = [parseCidr('169.254.0.0/17'), parseCidr('fd69::/112')];

export class Crash extends Error {}

export class UplinkWorld implements UplinkEffects {
  readonly kernel = new FakeKernel();
  bridges: Bridge[] = [];
  /** Single changes until the process ends; every address and every route is one. */
  changesLeft = Number.POSITIVE_INFINITY;
  readonly steps: UplinkStep[] = [];

  constructor() {
    this.kernel.addNetns('outside');
    this.addLink(NIC, NIC_MAC);
    this.apply({ op: 'link.set', name: NIC, change: { up: true } });
  }

  addLink(name: string, mac: Mac): void {
    const end = { mac, mtu: 1500, group: 0 };
    const peer = { ...end, name: `p-${name}`, netns: 'outside' };
    this.apply({ op: 'link.add', link: { kind: 'veth', name, ...end, peer } });
    this.kernel.netns('outside').apply([{ op: 'link.set', name: peer.name, change: { up: true } }]);
  }

  address(text: string, link = NIC): this {
    this.apply({ op: 'address.put', address: { link, address: parseInterfaceAddress(text) } });
    return this;
  }

  route(dst: string, via: string | undefined, rest: Partial<Route> = {}): this {
    const next = via === undefined ? {} : { via: parseIp(via) };
    this.apply({ op: 'route.put', route: route({ dst: parseCidr(dst), dev: NIC, protocol: 3, ...next, ...rest }) });
    return this;
  }

  apply(op: KernelOp): void {
    const [failure] = this.kernel.netns().apply([op]);
    if (failure !== undefined) throw failure.error;
  }

  /** What of the kernel is to be the same again. */
  dump(): unknown {
    const { links, addresses, routes } = this.#host();
    return { links, addresses, routes: routes.toSorted((a, b) => (routeKey(a) < routeKey(b) ? -1 : 1)) };
  }

  observe(): Promise<World> {
    return Promise.resolve({
      switch: { bridges: this.bridges, datapathType: '', mapped: undefined },
      host: this.#host(),
    });
  }

  readBridges(): Promise<readonly Bridge[]> {
    return Promise.resolve(this.bridges);
  }

  perform(step: UplinkStep): Promise<void> {
    return new Promise((resolve) => {
      this.#perform(step);
      resolve();
    });
  }

  #perform(step: UplinkStep): void {
    this.steps.push(step);
    if (step.kind !== 'kernel') {
      this.#spend();
      this.#write(step);
      return;
    }
    for (const op of step.ops) {
      this.#spend();
      this.apply(op);
    }
  }

  /** As somebody with `ovs-vsctl del-br`, or ovs-vswitchd when its process ends and comes back. */
  removeBridge(name: string): void {
    this.bridges = this.bridges.filter((bridge) => bridge.name !== name);
    this.apply({ op: 'link.delete', name });
  }

  #spend(): void {
    if (this.changesLeft-- <= 0) throw new Crash('the process ended');
  }

  #write(step: Exclude<UplinkStep, { kind: 'kernel' }>): void {
    if (step.kind === 'create') {
      if (this.bridges.some(({ name }) => name === step.bridge)) throw new Error(`${step.bridge} exists`);
      this.bridges.push(bridgeOf(step.bridge, step.uplink, step.record));
      this.addLink(step.bridge, step.record.mac);
    } else if (step.kind === 'delete') this.removeBridge(step.bridge);
    else {
      this.bridges = this.bridges.map((bridge) => {
        if (bridge.name !== step.bridge) return bridge;
        if (step.kind === 'attach') return { ...bridge, ports: [...bridge.ports, { name: step.uplink, types: [''] }] };
        return { ...bridge, externalIds: { ...bridge.externalIds, [MOVE_KEY]: formatMoveRecord(step.record) } };
      });
    }
  }

  #host(): HostSnapshot {
    const own = this.kernel.netns();
    return {
      links: own.links(),
      addresses: own.addresses(),
      routes: FAMILIES.flatMap((family) => own.routes({ family })),
    };
  }
}

export const bridgeOf = (name: string, uplink: string | undefined, record?: MoveRecord): Bridge => ({
  uuid: `uuid of ${name}` as Uuid,
  name,
  mac: record?.mac,
  externalIds: {
    ...(uplink !== undefined && { 'bridge-uplink': uplink }),
    ...(record?.nic !== undefined && { [MOVE_KEY]: formatMoveRecord(record) }),
  },
  ports: [{ name, types: ['internal'] }, ...(uplink === undefined ? [] : [{ name: uplink, types: [''] }])],
});
