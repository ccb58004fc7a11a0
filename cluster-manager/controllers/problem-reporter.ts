/** Reports to owners of objects what is wrong or worth knowing, once: an event that only repeats the last one is noise. */
import type { EventInput, EventRecorder, InvolvedObject } from '../../kube/events/types.ts';

export interface ProblemReporter {
  /**
   * All that is wrong with an object now; what was not said before becomes an event. None: everything is well again.
   * @param type `Normal` where nothing is wrong and nothing has to be done. Default `Warning`.
   */
  report(regarding: InvolvedObject, reason: string, messages: readonly string[], type?: EventInput['type']): void;
}

export const createProblemReporter = (events: Pick<EventRecorder, 'record'>): ProblemReporter => {
  const reported = new Map<string, ReadonlySet<string>>();
  return {
    report: (regarding, reason, messages, type = 'Warning') => {
      const key = `${reason} ${regarding.kind} ${regarding.namespace ?? ''}/${regarding.name} ${regarding.uid ?? ''}`;
      const before = reported.get(key);
      if (messages.length === 0) reported.delete(key);
      else reported.set(key, new Set(messages));
      // Objects go away without saying goodbye; of those that are left few are wrong.
      for (const oldest of reported.keys()) {
        if (reported.size <= MAX_REMEMBERED) break;
        reported.delete(oldest);
      }
      for (const message of new Set(messages)) {
        const event: EventInput = { regarding, type, reason, message };
        if (before?.has(message) !== true) events.record(event);
      }
    },
  };
};

const MAX_REMEMBERED = 10_000;
