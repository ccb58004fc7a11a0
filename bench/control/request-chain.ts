/** Requests that are known before they are sent, and the process that sends them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LineProcess } from '../line-process.ts';
import type { ControlPlane } from './control-plane.ts';

export interface ChainRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Statuses that are as good as success. */
  readonly mayFail?: readonly number[];
}

/** Each after the answer to the one before. */
export type RequestChain = readonly ChainRequest[];

export interface Recording {
  /** How many chains are under way at once. */
  readonly lanes: number;
  readonly chains: readonly RequestChain[];
}

/** In a body: the uid of the object that the chain's first request made. */
export const UID = '<uid of the first>';

/** As many as the cluster manager's writer has under way (`cluster-manager/controllers/manager.ts`). */
export const LANES = 16;

/** A process with its requests in memory. Each line that it gets plays them; it answers with milliseconds. */
export const startPlayer = async (
  { folder, kubeconfig }: Pick<ControlPlane, 'folder' | 'kubeconfig'>,
  chains: readonly RequestChain[],
): Promise<LineProcess> => {
  const file = join(folder, 'recording.json');
  await writeFile(file, JSON.stringify({ lanes: LANES, chains } satisfies Recording));
  const program = join(import.meta.dirname, 'request-player.ts');
  const player = new LineProcess('request-player.ts', process.execPath, [program, kubeconfig, file]);
  await player.line();
  return player;
};

/** @returns milliseconds from the first request to the last answer */
export const playOnce = async (
  plane: Pick<ControlPlane, 'folder' | 'kubeconfig'>,
  chains: readonly RequestChain[],
): Promise<number> => {
  await using player = await startPlayer(plane, chains);
  player.write('go\n');
  return Number(await player.line());
};
