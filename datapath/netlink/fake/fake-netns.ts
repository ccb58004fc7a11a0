import { constants } from 'node:os';
import { cidrFamily } from '../../../net/cidr.ts';
import { type Mac, macFromBytes, parseMac } from '../../../net/mac.ts';
import type { Address } from '../address/types.ts';
import { kernelError, NetlinkError } from '../errors.ts';
import { EGRESS_MISSING, type FrameFilter, type ObservedFilters } from '../frame-filter/types.ts';
import { isSuccess } from '../kernel/success.ts';
import type { KernelOp, Netns, OpFailure, RouteFilter, SysctlKey } from '../kernel/types.ts';
import { isLinkName, type Link, type LinkChange, type NewMaster, type NewVeth } from '../link/types.ts';
import type { Neighbour } from '../neighbour/types.ts';
import type { Route } from '../route/types.ts';
import type { Rule } from '../rule/types.ts';
import { FakeFilters } from './fake-filters.ts';
import { FakeInet } from './fake-inet.ts';
import { type FakeLink, hasCarrier, ipv6Of, type NewFakeLink, newIpv6, newLink } from './fake-link.ts';
import { FakePolicy } from './fake-policy.ts';

const { EAFNOSUPPORT, EEXIST, EINVAL, ENODEV, ENOENT, EOPNOTSUPP } = constants.errno;

export interface FakeNetnsContext {
  /** @throws NetlinkError ENOENT */
  find(path: string): FakeNetns;
  /** An error that a test wants this operation to fail with. */
  fault(op: KernelOp): NetlinkError | undefined;
  /** Applies it, and notifies listeners. */
  changing(op: KernelOp, change: () => void): void;
  /** Whether there are VRFs; not every kernel has them. */
  readonly vrf: boolean;
  /** Whether nftables has the hook of frame filters. */
  readonly egress: boolean;
}

export class FakeNetns implements Netns {
  readonly #context: FakeNetnsContext;
  readonly #links = new Map<string, FakeLink>();
  readonly #inet = new FakeInet();
  readonly #policy = new FakePolicy();
  readonly #settings = new Map([
    ['ipv4/ip_forward', '0'],
    ['ipv6/conf/all/forwarding', '0'],
  ]);
  readonly #ids = new Map<FakeNetns, number>();
  readonly #filters = new FakeFilters();
  #nextIndex = 1;

  constructor(context: FakeNetnsContext) {
    this.#context = context;
    this.#addLink({ name: 'lo', kind: undefined, mac: parseMac('00:00:00:00:00:00'), mtu: 65_536, group: 0 });
  }

  link(name: string): Link | undefined {
    const link = this.#links.get(name);
    return link && this.#describe(link);
  }

  linkByIndex(index: number): Link | undefined {
    return this.links().find((link) => link.index === index);
  }

  links(): Link[] {
    return [...this.#links.values()].map((link) => this.#describe(link));
  }

  addresses(link?: string): Address[] {
    return this.#inet.addresses.filter((address) => link === undefined || address.link === link);
  }

  routes({ family, table, protocol }: RouteFilter): Route[] {
    return this.#inet.routes.filter(
      (route) =>
        cidrFamily(route.dst) === family &&
        (table === undefined || route.table === table) &&
        (protocol === undefined || route.protocol === protocol),
    );
  }

  rules(): Rule[] {
    return this.#policy.rules();
  }

  neighbours(): Neighbour[] {
    return this.#policy.neighbours();
  }

  sysctl(key: SysctlKey): string | undefined {
    const { settings, name } = this.#setting(key);
    return settings?.get(name);
  }

  txChecksum(link: string): boolean | undefined {
    return this.#links.get(link)?.txChecksum;
  }

  frameFilters(filters?: readonly FrameFilter[]): ObservedFilters {
    return this.#filters.observe(filters);
  }

  whyNoFilters(): string | undefined {
    return this.#context.egress ? undefined : EGRESS_MISSING;
  }

  /** Another program flushes the rules that frame filters share. */
  loseSharedRules(): void {
    this.#filters.loseShared();
  }

  /** Another program lets pass what no rule of a link's filter decides, or makes a MAC a locked pod's. */
  loosenFilter(link: string): void {
    this.#filters.loosen(link);
  }

  lockMac(mac: Mac): void {
    this.#filters.lock(mac);
  }

  netnsid(path: string): number | undefined {
    return this.#ids.get(this.#context.find(path));
  }

  apply(ops: readonly KernelOp[]): OpFailure[] {
    return ops.flatMap((op) => {
      try {
        const fault = this.#context.fault(op);
        if (fault !== undefined) throw fault;
        this.#context.changing(op, () => this.#apply(op));
        return [];
      } catch (error) {
        if (!(error instanceof NetlinkError)) throw error;
        return isSuccess(op, error) ? [] : [{ op, error }];
      }
    });
  }

  /** Everything happens at once here. */
  settle(): void {}

  /** Takes all links away. */
  clear(): void {
    for (const link of [...this.#links.values()]) this.#removePair(link);
  }

  #apply(op: KernelOp): void {
    switch (op.op) {
      case 'link.add':
        this.#addVeth(op.link);
        break;
      case 'link.set':
        this.#setLink(this.#require(op.name), op.change);
        break;
      case 'link.addrGenMode':
        this.#setAddrGenMode(this.#require(op.name), op.mode);
        break;
      case 'link.delete':
        this.#removePair(this.#require(op.name));
        break;
      case 'link.txChecksum':
        this.#require(op.name).txChecksum = op.on;
        break;
      case 'filter.put':
        this.#putFilter(op);
        break;
      case 'filter.delete':
        this.#filters.delete(op.link);
        break;
      case 'filter.unshare':
        this.#filters.unshare(op.name);
        break;
      case 'filter.unlock':
        this.#filters.unlock(op.mac);
        break;
      case 'filters.clear':
        this.#filters.clear();
        break;
      case 'address.put':
        this.#inet.putAddress(this.#require(op.address.link), op.address);
        break;
      case 'address.delete':
        this.#inet.deleteAddress(this.#require(op.address.link), op.address.address);
        break;
      case 'route.put':
        this.#inet.putRoute(op.route.dev === undefined ? undefined : this.#require(op.route.dev), op.route);
        break;
      case 'route.delete':
        this.#inet.deleteRoute(op.route);
        break;
      case 'sysctl.set':
        this.#setSysctl(op.key, op.value);
        break;
      case 'master.add':
        this.#addMaster(op.master);
        break;
      case 'rule.put':
      case 'rule.delete':
        this.#policy.applyRule(op);
        break;
      case 'neighbour.put':
      case 'neighbour.delete':
        this.#policy.applyNeighbour(this.#require(op.neighbour.link), op);
        break;
    }
  }

  #putFilter({ filter, withShared = false }: Extract<KernelOp, { op: 'filter.put' }>): void {
    const subject = `add frame filter of ${filter.link}`;
    if (!this.#context.egress) throw kernelError(subject, EOPNOTSUPP, EGRESS_MISSING);
    // nf_tables does not say ENODEV.
    if (!this.#links.has(filter.link)) throw kernelError(subject, ENOENT);
    this.#filters.put(filter, withShared);
  }

  #addVeth({ peer, ...end }: NewVeth): void {
    const other = peer.netns === undefined ? this : this.#context.find(peer.netns);
    if (this.#links.has(end.name) || other.#links.has(peer.name)) throw kernelError(`add veth ${end.name}`, EEXIST);
    for (const { name, mtu } of [end, peer]) {
      if (!isLinkName(name) || mtu < 68 || mtu > 65_535) throw kernelError(`add veth ${end.name}`, EINVAL);
    }
    const link = this.#addLink({ ...end, kind: 'veth' });
    const peerLink = other.#addLink({ ...peer, kind: 'veth' });
    link.peer = { netns: other, link: peerLink };
    peerLink.peer = { netns: this, link };
    this.#nameNetns(other);
    other.#nameNetns(this);
  }

  #addMaster(master: NewMaster): void {
    const { kind, name } = master;
    if (kind === 'vrf' && !this.#context.vrf) throw kernelError(`add vrf ${name}`, EOPNOTSUPP, 'Unknown device type');
    if (this.#links.has(name)) throw kernelError(`add ${kind} ${name}`, EEXIST);
    if (!isLinkName(name)) throw kernelError(`add ${kind} ${name}`, EINVAL);
    const mac = macFromBytes(Uint8Array.of(0x0a, 0, 0, 0, 0, this.#nextIndex));
    const table = kind === 'vrf' ? { vrfTable: master.table } : {};
    if (kind === 'vrf') this.#policy.vrfAdded();
    this.#addLink({ name, kind, mac, mtu: kind === 'vrf' ? 65_575 : 1500, group: 0, ...table });
  }

  #addLink({ name, kind, mac, mtu, group, vrfTable }: Omit<NewFakeLink, 'index'>): FakeLink {
    const table = vrfTable === undefined ? {} : { vrfTable };
    const link = newLink({ name, kind, mac, mtu, group, index: this.#nextIndex++, ...table });
    this.#links.set(name, link);
    return link;
  }

  #nameNetns(other: FakeNetns): void {
    if (other !== this && !this.#ids.has(other)) this.#ids.set(other, this.#ids.size);
  }

  #removePair(link: FakeLink): void {
    this.#removeLink(link);
    if (link.peer !== undefined) link.peer.netns.#removeLink(link.peer.link);
  }

  #removeLink(link: FakeLink): void {
    for (const port of this.#links.values()) if (port.master === link) this.#setMaster(port, undefined);
    this.#inet.linkGone(link);
    this.#policy.linkGone(link);
    this.#links.delete(link.name);
    this.#filters.linkGone(link.name);
  }

  #setLink(link: FakeLink, { up, mtu, mac, alias, group, master }: LinkChange): void {
    if (master !== undefined) this.#setMaster(link, master === null ? undefined : this.#require(master));
    if (mac !== undefined) link.mac = mac;
    if (alias !== undefined) link.alias = alias;
    if (group !== undefined) link.group = group;
    if (mtu !== undefined) this.#setMtu(link, mtu);
    if (up !== undefined && up !== link.up) this.#setUp(link, up);
  }

  #setUp(link: FakeLink, up: boolean): void {
    link.up = up;
    if (up) {
      this.#inet.linkUp(link);
    } else {
      this.#inet.linkDown(link);
      this.#policy.linkDown(link);
    }
    if (link.peer !== undefined) link.peer.netns.#inet.ipv6On(link.peer.link);
  }

  /** The kernel takes a link down and up again when it goes into a VRF or out of it (drivers/net/vrf.c, cycle_netdev). */
  #setMaster(link: FakeLink, master: FakeLink | undefined): void {
    if (link.master === master) return;
    if (master !== undefined && master.kind !== 'vrf' && master.kind !== 'bridge') {
      throw kernelError(`set master of link ${link.name}`, EOPNOTSUPP);
    }
    const cycles = link.up && (link.master?.kind === 'vrf' || master?.kind === 'vrf');
    if (cycles) this.#setUp(link, false);
    link.master = master;
    if (cycles) this.#setUp(link, true);
  }

  #setMtu(link: FakeLink, mtu: number): void {
    const had = ipv6Of(link) !== undefined;
    link.mtu = mtu;
    const has = ipv6Of(link) !== undefined;
    if (had === has) return;
    link.ipv6 = newIpv6();
    if (has) this.#inet.ipv6On(link);
    else this.#inet.ipv6Off(link);
  }

  #setAddrGenMode(link: FakeLink, mode: FakeLink['ipv6']['addrGenMode']): void {
    const ipv6 = ipv6Of(link);
    if (ipv6 === undefined) throw kernelError(`set address generation of ${link.name}`, EAFNOSUPPORT);
    ipv6.addrGenMode = mode;
  }

  #setSysctl(key: SysctlKey, value: string): void {
    const { link, settings, name } = this.#setting(key);
    if (!settings?.has(name)) throw kernelError(`write sysctl ${key}`, ENOENT);
    const before = settings.get(name);
    settings.set(name, value);
    if (link === undefined || name !== 'disable_ipv6' || before === value) return;
    if (value === '0') this.#inet.ipv6On(link);
    else this.#inet.ipv6Off(link);
  }

  /** Those of links (`ipv4/conf/LINK/NAME`), and some of the namespace. */
  #setting(key: SysctlKey): { link?: FakeLink | undefined; settings: Map<string, string> | undefined; name: string } {
    if (this.#settings.has(key)) return { settings: this.#settings, name: key };
    const [family, conf, of = '', name = ''] = key.split('/');
    const link = conf === 'conf' ? this.#links.get(of) : undefined;
    return { link, settings: family === 'ipv4' ? link?.ipv4 : link && ipv6Of(link)?.settings, name };
  }

  #require(name: string): FakeLink {
    const link = this.#links.get(name);
    if (link === undefined) throw kernelError(`find link ${name}`, ENODEV);
    return link;
  }

  #describe(link: FakeLink): Link {
    const { index, name, kind, mac, mtu, up, alias, group, peer, master, vrfTable } = link;
    return {
      index,
      name,
      kind,
      mac,
      mtu,
      up,
      carrier: hasCarrier(link),
      master: master?.index,
      alias,
      group,
      peer: peer && { index: peer.link.index, netnsid: this.#ids.get(peer.netns) },
      addrGenMode: ipv6Of(link)?.addrGenMode,
      ...(vrfTable === undefined ? {} : { vrfTable }),
    };
  }
}
