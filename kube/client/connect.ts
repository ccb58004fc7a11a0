import type { Clock } from '../../base/clock.ts';
import type { ClusterConnection } from '../config/types.ts';
import { createHttpTransport, type LostAddresses, type MayWrite } from '../transport/http-transport.ts';
import type { KubeClient } from '../types.ts';
import { createKubeClient } from './client.ts';

export interface ConnectOptions {
  /** `program/version`. */
  readonly userAgent: string;
  /** Of everything but watches. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Without it, TCP finds out after more than half a minute that a connection from such an address is dead. */
  readonly lostAddresses?: LostAddresses | undefined;
  /** Without it, always. */
  readonly mayWrite?: MayWrite | undefined;
}

/** A client of an API server. Nothing is sent yet. */
export const connect = (connection: ClusterConnection, { userAgent, ...options }: ConnectOptions): KubeClient =>
  createKubeClient({ transport: createHttpTransport({ connection, ...options }), userAgent });
