/** Server-sent events to one page. One that does not read gets the latest of each event when it does, and costs no more memory. */
import type { ServerResponse } from 'node:http';
import type { StreamEvents } from './types.ts';

type Send = <Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]) => void;

export const eventStream = (response: Pick<ServerResponse, 'write' | 'on' | 'writableNeedDrain'>): Send => {
  const held = new Map<keyof StreamEvents, string>();
  response.on('drain', () => {
    for (const [event, text] of held) {
      if (response.writableNeedDrain) return;
      held.delete(event);
      response.write(text);
    }
  });
  return (event, data) => {
    const text = eventText(event, data);
    if (response.writableNeedDrain) held.set(event, text);
    else response.write(text);
  };
};

/** JSON has no line ends, which would end an event. */
const eventText = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
