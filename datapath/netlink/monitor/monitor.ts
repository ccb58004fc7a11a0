/** Listens to the kernel on a socket of its own, in the worker's thread. */
import { closeSync, readSync } from 'node:fs';
import { fromSystemError, hasCode } from '../errors.ts';
import type { NetlinkAddon } from '../kernel/addon.ts';
import { FdIo } from '../kernel/fd-io.ts';
import { NETLINK_ROUTE, RTNLGRP } from '../wire/constants.ts';
import { parseMessageBytes } from '../wire/message.ts';
import { decodeEvent } from './decode.ts';
import type { NetlinkEvent, NetlinkListener } from './events.ts';
import { LinkNames } from './link-names.ts';

export interface MonitorOptions {
  readonly addon: NetlinkAddon;
  /** −1 for the process' own. */
  readonly netnsFd: number;
  readonly nameOf: (index: number) => string | undefined;
  /** How much the kernel keeps for us while this thread does something else. */
  readonly receiveBytes?: number | undefined;
  readonly listener: NetlinkListener;
}

/** 60,000 events were kept in it while a thread did something else for 2.5 s. */
const RECEIVE_BYTES = 8 * 1024 * 1024;
/** Between deliveries: one burst of the kernel should not become one huge message between threads. */
const MAX_EVENTS = 4096;

export class Monitor implements Disposable {
  readonly #fd: number;
  readonly #names: LinkNames;
  readonly #listener: NetlinkListener;
  readonly #buffer = FdIo.newBuffer();
  readonly #unwatch: () => void;

  constructor({ addon, netnsFd, nameOf, receiveBytes = RECEIVE_BYTES, listener }: MonitorOptions) {
    this.#names = new LinkNames(nameOf);
    this.#listener = listener;
    this.#fd = addon.openSocket(netnsFd, NETLINK_ROUTE, receiveBytes, 0);
    try {
      for (const group of Object.values(RTNLGRP)) addon.setMembership(this.#fd, group, true);
      this.#unwatch = addon.watchReadable(this.#fd, () => this.drain());
    } catch (error) {
      closeSync(this.#fd);
      throw fromSystemError('watch the kernel', error);
    }
  }

  /**
   * Delivers what has happened until now. The kernel reports a change before the call that made it returns, so that nobody
   * sees an answer before the events that led to it.
   */
  drain(): void {
    let events: NetlinkEvent[] = [];
    for (;;) {
      const datagram = this.#receive();
      if (datagram === undefined) break;
      for (const event of this.#decode(datagram)) events.push(event);
      if (events.length < MAX_EVENTS) continue;
      this.#listener(events);
      events = [];
    }
    if (events.length > 0) this.#listener(events);
  }

  [Symbol.dispose](): void {
    this.#unwatch();
    closeSync(this.#fd);
  }

  /** Undefined when there is nothing to read. */
  #receive(): Buffer | 'lost' | undefined {
    try {
      const length = readSync(this.#fd, this.#buffer);
      return length === this.#buffer.length ? 'lost' : this.#buffer.subarray(0, length);
    } catch (error) {
      const known = fromSystemError('read events', error);
      if (hasCode(known, 'EAGAIN')) return undefined;
      if (hasCode(known, 'EINTR')) return Buffer.alloc(0);
      if (hasCode(known, 'ENOBUFS')) return 'lost';
      throw known;
    }
  }

  /** An unreadable message is as good as lost: it may have reported anything. */
  #decode(datagram: Buffer | 'lost'): NetlinkEvent[] {
    if (datagram !== 'lost') {
      try {
        return parseMessageBytes(datagram).flatMap((message) => decodeEvent(message, this.#names) ?? []);
      } catch (error) {
        if (!hasCode(error, 'ERR_NETLINK_MALFORMED')) throw error;
      }
    }
    this.#names.clear();
    return [{ kind: 'lost' }];
  }
}
