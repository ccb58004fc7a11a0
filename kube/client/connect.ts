import type { Clock } from '../clock.ts';
import type { ClusterConnection } from '../config/types.ts';
import { createHttpTransport } from '../transport/http-transport.ts';
import type { KubeClient } from '../types.ts';
import { createKubeClient } from './client.ts';

export interface ConnectOptions {
  /** `program/version`. */
  readonly userAgent: string;
  /** Of everything but watches. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** A client of an API server. Nothing is sent yet. */
export const connect = (connection: ClusterConnection, { userAgent, timeoutMs, clock }: ConnectOptions): KubeClient =>
  createKubeClient({ transport: createHttpTransport({ connection, timeoutMs, clock }), userAgent });
