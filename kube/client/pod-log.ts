/** The log of a container: text, where all else of the API is JSON. */

import { PODS } from '../resources.ts';
import type { Transport } from '../transport/types.ts';
import { queryString, resourcePath } from './resource-path.ts';
import { statusError } from './responses.ts';

export interface PodLogTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Of the container that ran before this one. */
  readonly previous?: boolean;
}

/** Of the end, so many lines. @throws KubeError */
export const readPodLog = async (
  transport: Pick<Transport, 'send'>,
  { namespace, pod, container, previous = false }: PodLogTarget,
  tailLines: number,
  signal?: AbortSignal,
): Promise<string> => {
  const path = resourcePath(PODS, { namespace, name: pod, subresource: 'log' });
  const query = queryString({ container, tailLines, timestamps: true, ...(previous && { previous }) });
  const response = await transport.send({ method: 'GET', path: path + query, headers: { accept: '*/*' } }, signal);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (response.status !== 200) throw statusError(response, text, `GET ${path}`);
  return text;
};
