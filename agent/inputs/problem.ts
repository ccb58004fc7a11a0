import { ApiError, describeFinding } from '../../api/errors.ts';
import type { ProblemCause } from '../../api/problem-causes.ts';
import { messageOf } from '../../base/error-message.ts';

/** Something of an object that could not be read. The rest of the object, and all other objects, are used. */
export interface Problem {
  /** `Pod/ns/name` */
  readonly object: string;
  readonly message: string;
  /** Absent: `error`. */
  readonly severity?: 'warning' | undefined;
  /** Absent: `other`. */
  readonly cause?: ProblemCause;
}

/**
 * Reads a part of an object. What throws becomes a problem and `undefined`.
 * @param problems gets what was wrong
 */
export const readOr = <Value>(object: string, problems: Problem[], read: () => Value): Value | undefined => {
  try {
    return read();
  } catch (error) {
    problems.push({ object, message: findingOf(error), cause: 'object-unreadable' });
    return undefined;
  }
};

const findingOf = (error: unknown): string => (error instanceof ApiError ? describeFinding(error) : messageOf(error));
