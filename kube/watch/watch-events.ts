/** The events of a watch. */
import { KubeError } from '../errors.ts';
import { isRecord } from '../is-record.ts';
import type { WatchEvent, WatchStream } from '../types.ts';
import { createLineFramer } from './lines.ts';

/**
 * The events one by one, until the server ends the stream.
 * @throws KubeError ERR_KUBE_PROTOCOL for a line that is no event, or what reading the stream throws
 */
export async function* watchEvents(stream: WatchStream): AsyncGenerator<WatchEvent, void> {
  const framer = createLineFramer();
  for await (const chunk of stream) {
    for (const line of framer.push(chunk)) {
      const event = parseWatchLine(line);
      if (event !== undefined) yield event;
    }
  }
  // The last line of a stream may lack its line feed only when the stream was cut.
  if (framer.pending > 0) throw new KubeError('ERR_KUBE_NETWORK', 'a watch ended within a line');
}

const TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

/**
 * Undefined for an empty line.
 * @throws KubeError ERR_KUBE_PROTOCOL
 */
export const parseWatchLine = (line: string): WatchEvent | undefined => {
  if (line.trim() === '') return undefined;
  const event = parsed(line);
  if (isWatchEvent(event)) return event;
  throw new KubeError('ERR_KUBE_PROTOCOL', `a watch line is no event: ${line.slice(0, 200)}`);
};

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new KubeError('ERR_KUBE_PROTOCOL', `a watch line is not JSON: ${line.slice(0, 200)}`, { cause });
  }
};

const isWatchEvent = (value: unknown): value is WatchEvent =>
  isRecord(value) && TYPES.has(value['type']) && isRecord(value['object']);
