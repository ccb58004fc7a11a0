/** Waits for an answer, and not for ever. */
/** A daemon that hangs takes the connection, and never answers. */
const ANSWER_MS = 4_000;

/** @throws Error when there is none in time; then `signal` ends what is under way */
export const inTime = async <Result>(read: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> => {
  const end = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new Error(`no answer within ${ANSWER_MS / 1000} s`));
    end.abort();
  }, ANSWER_MS);
  try {
    return await Promise.race([read(end.signal), late]);
  } finally {
    clearTimeout(timer);
  }
};
