/** What a check found. */
import { messageOf } from '../../../base/error-message.ts';

export interface Finding {
  /** `warning`: works, but somebody should know. `unknown`: it could not be looked at. */
  readonly result: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly what: string;
  /** A message: what is wrong, and what to do. Absent: nothing is. */
  readonly message?: string;
}

export const ok = (what: string): Finding => ({ result: 'ok', what });
export const failed = (what: string, message: string): Finding => ({ result: 'failed', what, message });
export const warning = (what: string, message: string): Finding => ({ result: 'warning', what, message });

/** One finding for something that may have several faults. */
export const resultOf = (what: string, faults: readonly string[]): Finding =>
  faults.length === 0 ? ok(what) : failed(what, faults.join('; '));

/** An unreadable subject is reported, and does not keep others from being looked at. */
export const findingOf = async (what: string, look: () => Promise<Finding>): Promise<Finding> => {
  try {
    return await look();
  } catch (error) {
    return { result: 'unknown', what, message: messageOf(error) };
  }
};
