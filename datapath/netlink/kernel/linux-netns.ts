import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { parseInterfaceAddress } from '../../../net/cidr.ts';
import { decodeAddress, deleteAddress, getAddresses, putAddress } from '../address/codec.ts';
import type { Address } from '../address/types.ts';
import { fromSystemError, hasCode, kernelError, NetlinkError } from '../errors.ts';
import { NETLINK_NETFILTER } from '../frame-filter/constants.ts';
import {
  clearFilters,
  putFilter,
  putTogether,
  readFilters,
  removeFilter,
  removeLockedMac,
  removeShared,
  whyUnsupported,
} from '../frame-filter/linux-filters.ts';
import type { FrameFilter, ObservedFilters } from '../frame-filter/types.ts';
import {
  addMaster,
  addVeth,
  decodeLink,
  deleteLink,
  getLink,
  getLinkByIndex,
  setAddrGenMode,
  setLink,
} from '../link/codec.ts';
import type { Link, LinkChange } from '../link/types.ts';
import { decodeNeighbour, deleteNeighbour, getNeighbours, putNeighbour } from '../neighbour/codec.ts';
import type { Neighbour } from '../neighbour/types.ts';
import { decodeRoute, deleteRoute, getRoutes, namedRoute, putRoute } from '../route/codec.ts';
import type { Route } from '../route/types.ts';
import { addRule, decodeRule, deleteRule, getRules } from '../rule/codec.ts';
import type { Rule } from '../rule/types.ts';
import { NETLINK_ROUTE } from '../wire/constants.ts';
import { decodeNetnsid, getNetnsid } from '../wire/netnsid.ts';
import { type NamedRequest, NetlinkSocket } from '../wire/socket.ts';
import type { NetlinkAddon } from './addon.ts';
import { FdIo } from './fd-io.ts';
import { changesLinks, type DirectOp, isDirect, linkOf } from './op-kinds.ts';
import { runsOf } from './runs.ts';
import { isSuccess } from './success.ts';
import type { KernelOp, Netns, OpFailure, RouteFilter, SysctlKey } from './types.ts';

/** The kernel answers inside of the request's own system call, so a wait this long means that no answer comes. */
const TIMEOUT_MS = 5_000;

export interface NetnsHandle {
  /** An open namespace; −1 for the process' own. */
  readonly fd: number;
  readonly addon: NetlinkAddon;
  readonly buffer: Buffer;
  /** An open namespace by its path. */
  fdOf(path: string): number;
}

export class LinuxNetns implements Netns {
  readonly #handle: NetnsHandle;
  readonly #indexes = new Map<string, number>();
  readonly #names = new Map<number, string>();
  #socket: OpenSocket | undefined;
  #filters: OpenSocket | undefined;

  constructor(handle: NetnsHandle) {
    this.#handle = handle;
  }

  link(name: string): Link | undefined {
    return this.#getLink(getLink(name));
  }

  linkByIndex(index: number): Link | undefined {
    return this.#getLink(getLinkByIndex(index));
  }

  links(): Link[] {
    const links = this.#using((socket) => socket.dump(getLink(), decodeLink));
    for (const link of links) this.#remember(link);
    return links;
  }

  addresses(link?: string): Address[] {
    const index = link === undefined ? undefined : this.#indexOf(link);
    if (link !== undefined && index === undefined) return [];
    const found = orElse([], ['ENODEV'], () =>
      this.#using((socket) => socket.dump(getAddresses(index), decodeAddress)),
    );
    // A kernel without strict checking gives those of all links.
    return found
      .filter((address) => index === undefined || address.index === index)
      .flatMap(({ index: on, label, ...address }) => {
        const name = this.#nameOf(on);
        if (name === undefined) return [];
        // Unless somebody gave it another one, its label is the link's name.
        return [{ ...address, ...(label === undefined || label === name ? {} : { label }), link: name }];
      });
  }

  routes({ family, table, protocol }: RouteFilter): Route[] {
    // ENOENT: nobody has put a route into that table yet.
    const found = orElse([], ['ENOENT'], () =>
      this.#using((socket) => socket.dump(getRoutes(family, table, protocol), decodeRoute)),
    );
    return found
      .filter((route) => table === undefined || route.table === table)
      .filter((route) => protocol === undefined || route.protocol === protocol)
      .flatMap((route) => namedRoute(route, (index) => this.#nameOf(index)) ?? []);
  }

  rules(): Rule[] {
    return FAMILIES.flatMap((family) =>
      orElse([], ['EAFNOSUPPORT'], () => this.#using((socket) => socket.dump(getRules(family), decodeRule))),
    );
  }

  neighbours(): Neighbour[] {
    const found = FAMILIES.flatMap((family) =>
      this.#using((socket) => socket.dump(getNeighbours(family), decodeNeighbour)),
    );
    return found.flatMap(({ index, ...neighbour }) => {
      const link = this.#nameOf(index);
      return link === undefined ? [] : [{ link, ...neighbour }];
    });
  }

  sysctl(key: SysctlKey): string | undefined {
    const { addon, fd } = this.#handle;
    return orElse(undefined, ['ENOENT'], () => described(`read sysctl ${key}`, () => addon.readSysctl(fd, key)));
  }

  txChecksum(link: string): boolean | undefined {
    const { fd } = this.open();
    const { addon } = this.#handle;
    return orElse(undefined, ['ENODEV'], () =>
      described(`read checksum offload of ${link}`, () => addon.getTxChecksum(fd, link)),
    );
  }

  frameFilters(filters?: readonly FrameFilter[]): ObservedFilters {
    return this.#usingFilters((socket) => readFilters(socket, filters));
  }

  whyNoFilters(): string | undefined {
    return this.#usingFilters(whyUnsupported);
  }

  netnsid(path: string): number | undefined {
    return this.#using((socket) => socket.get(getNetnsid(this.#handle.fdOf(path)), decodeNetnsid));
  }

  /**
   * What rtnetlink does goes out in as few writes as possible; the rest is done in between, in order.
   * @throws NetlinkError when the kernel could not be asked, so that it is not known what has been done
   */
  apply(ops: readonly KernelOp[]): OpFailure[] {
    // An operation in another namespace may have remade a link of this one: a peer goes with its veth.
    this.forget();
    const failures: OpFailure[] = [];
    const waiting: WaitingOp[] = [];
    for (const run of runsOf(ops)) {
      if (run.some((op) => isDirect(op) || this.#isOfLinkToCome(op, waiting))) failures.push(...this.#send(waiting));
      if (this.#putTogether(run)) continue;
      for (const op of run) {
        try {
          if (isDirect(op)) this.#applyDirectly(op);
          else waiting.push({ op, request: this.#request(op) });
        } catch (error) {
          failures.push(...failureOf(op, error));
        }
      }
    }
    return inOrderOf(ops, [...failures, ...this.#send(waiting)]);
  }

  /**
   * The kernel reports that an address or a link goes before it takes the routes of it (net/ipv4/devinet.c, __inet_del_ifa:
   * "send message first, then call notifier"), and since Linux 6.9 lists routes without waiting for that
   * (net/ipv4/fib_frontend.c, inet_dump_fib). Every change has to wait, also a deletion of what is absent.
   */
  settle(): void {
    const nothing = deleteAddress(NO_ADDRESS, LOOPBACK_INDEX);
    this.#using((socket) => socket.change([nothing]));
  }

  /** Other programs rename and remake links, so what was learned in one batch may be wrong in the next. */
  forget(): void {
    this.#indexes.clear();
    this.#names.clear();
  }

  close(): void {
    for (const opened of [this.#socket, this.#filters]) if (opened !== undefined) closeSync(opened.fd);
    this.#socket = undefined;
    this.#filters = undefined;
  }

  /** Its link may be one that an operation adds which waits. */
  #isOfLinkToCome(op: KernelOp, waiting: readonly WaitingOp[]): boolean {
    const link = linkOf(op);
    return link !== undefined && !this.#indexes.has(link) && waiting.some((one) => changesLinks(one.op));
  }

  /** Takes all that wait. */
  #send(waiting: WaitingOp[]): OpFailure[] {
    const sent = waiting.splice(0);
    if (sent.length === 0) return [];
    const refusals = this.#using((socket) => socket.change(sent.map(({ request }) => request)));
    return sent.flatMap(({ op }, i) => (refusals[i] === undefined ? [] : failureOf(op, refusals[i])));
  }

  #request(op: Exclude<KernelOp, DirectOp>): NamedRequest {
    switch (op.op) {
      case 'link.add': {
        const { netns } = op.link.peer;
        return addVeth(op.link, netns === undefined ? undefined : this.#handle.fdOf(netns));
      }
      case 'master.add':
        return addMaster(op.master);
      case 'link.set':
        return setLink(op.name, op.change, this.#masterIndex(op.change));
      case 'link.addrGenMode':
        return setAddrGenMode(op.name, op.mode);
      case 'link.delete':
        this.#indexes.delete(op.name);
        return deleteLink(op.name);
      case 'address.put':
        return putAddress(op.address, this.#requireIndex(op.address.link));
      case 'address.delete':
        return deleteAddress(op.address, this.#requireIndex(op.address.link));
      case 'route.put':
        return putRoute(op.route, this.#routeIndex(op.route));
      case 'route.delete':
        return deleteRoute(op.route, this.#routeIndex(op.route));
      case 'rule.put':
        return addRule(op.rule);
      case 'rule.delete':
        return deleteRule(op.rule);
      case 'neighbour.put':
        return putNeighbour(op.neighbour, this.#requireIndex(op.neighbour.link));
      case 'neighbour.delete':
        return deleteNeighbour(op.neighbour, this.#requireIndex(op.neighbour.link));
    }
  }

  /** @returns false when each has to be applied by itself: there is one alone, or the kernel has refused, and has none */
  #putTogether(run: readonly KernelOp[]): boolean {
    if (run.length < 2) return false;
    const filters = run.flatMap((op) => (op.op === 'filter.put' ? [op.filter] : []));
    return this.#usingFilters((socket) => putTogether(socket, filters));
  }

  #applyDirectly(op: DirectOp): void {
    const { addon, fd } = this.#handle;
    if (op.op === 'filter.put') {
      this.#usingFilters((socket) => putFilter(socket, op.filter, op.withShared ?? false));
    } else if (op.op === 'filter.delete') {
      this.#usingFilters((socket) => removeFilter(socket, op.link));
    } else if (op.op === 'filter.unshare') {
      this.#usingFilters((socket) => removeShared(socket, op.name));
    } else if (op.op === 'filter.unlock') {
      this.#usingFilters((socket) => removeLockedMac(socket, op.mac));
    } else if (op.op === 'filters.clear') {
      this.#usingFilters(clearFilters);
    } else if (op.op === 'sysctl.set') {
      described(`set sysctl ${op.key} to ${op.value}`, () => addon.writeSysctl(fd, op.key, op.value));
    } else {
      const socket = this.open().fd;
      described(`set checksum offload of ${op.name}`, () => addon.setTxChecksum(socket, op.name, op.on));
    }
  }

  #masterIndex({ master }: LinkChange): number | undefined {
    if (master === undefined) return undefined;
    return master === null ? 0 : this.#requireIndex(master);
  }

  #routeIndex({ dev }: Route): number | undefined {
    return dev === undefined ? undefined : this.#requireIndex(dev);
  }

  #requireIndex(name: string): number {
    const index = this.#indexOf(name);
    if (index === undefined) throw kernelError(`find link ${name}`, constants.errno.ENODEV);
    return index;
  }

  #indexOf(name: string): number | undefined {
    return this.#indexes.get(name) ?? this.link(name)?.index;
  }

  /** Undefined for a link that went away since its address or route was listed, and they with it. */
  #nameOf(index: number): string | undefined {
    return this.#names.get(index) ?? this.linkByIndex(index)?.name;
  }

  #getLink(request: NamedRequest): Link | undefined {
    const link = orElse(undefined, ['ENODEV'], () => this.#using((socket) => socket.get(request, decodeLink)));
    return link && this.#remember(link);
  }

  #remember(link: Link): Link {
    this.#indexes.set(link.name, link.index);
    this.#names.set(link.index, link.name);
    return link;
  }

  /** After anything but a plain refusal of the kernel, answers may still be under way: the next call gets a new socket. */
  #using<T>(call: (socket: NetlinkSocket) => T): T {
    return this.#with(this.open(), call);
  }

  #usingFilters<T>(call: (socket: NetlinkSocket) => T): T {
    const { addon, fd, buffer } = this.#handle;
    this.#filters ??= openSocket(addon, fd, buffer, NETLINK_NETFILTER);
    return this.#with(this.#filters, call);
  }

  #with<T>({ socket }: OpenSocket, call: (socket: NetlinkSocket) => T): T {
    try {
      return call(socket);
    } catch (error) {
      const known = fromSystemError('netlink', error);
      if (!(known instanceof NetlinkError) || known.errno === 0 || known.cause !== undefined) this.close();
      throw known;
    }
  }

  /** @throws NetlinkError EINVAL when the open file is not a network namespace */
  open(): OpenSocket {
    const { addon, fd, buffer } = this.#handle;
    this.#socket ??= openSocket(addon, fd, buffer);
    return this.#socket;
  }
}

export interface OpenSocket {
  readonly socket: NetlinkSocket;
  readonly fd: number;
}

export const openSocket = (
  addon: NetlinkAddon,
  netnsFd: number,
  buffer: Buffer,
  protocol = NETLINK_ROUTE,
): OpenSocket => {
  const fd = described('open netlink socket', () => addon.openSocket(netnsFd, protocol, 0, TIMEOUT_MS));
  return { socket: new NetlinkSocket(new FdIo(fd, buffer)), fd };
};

/** Objects vanish at any time, also between two questions about them: what is gone is absent, not an error. */
const orElse = <T, U>(absent: U, codes: readonly string[], call: () => T): T | U => {
  try {
    return call();
  } catch (error) {
    if (hasCode(error, ...codes)) return absent;
    throw error;
  }
};

/** Errors of the addon say nothing about what they were for. */
const described = <T>(subject: string, call: () => T): T => {
  try {
    return call();
  } catch (error) {
    throw fromSystemError(subject, error);
  }
};

/** What the kernel refuses is known later than what is never sent. */
const inOrderOf = (ops: readonly KernelOp[], failures: OpFailure[]): OpFailure[] =>
  failures.length < 2 ? failures : failures.sort((a, b) => ops.indexOf(a.op) - ops.indexOf(b.op));

interface WaitingOp {
  readonly op: KernelOp;
  readonly request: NamedRequest;
}

const failureOf = (op: KernelOp, error: unknown): OpFailure[] => {
  if (!(error instanceof NetlinkError)) throw error;
  return isSuccess(op, error) ? [] : [{ op, error }];
};

const FAMILIES = [4, 6] as const;

/** In every namespace (net/core/dev.h, LOOPBACK_IFINDEX). */
const LOOPBACK_INDEX = 1;
const NO_ADDRESS = { link: 'lo', address: parseInterfaceAddress('255.255.255.255/32') };
