/** What a flusher does, one thing at a time. */
export type Step =
  | { readonly kind: 'idle' }
  /** It has requested to write. */
  | { readonly kind: 'scheduled'; readonly since: number }
  | { readonly kind: 'sending'; readonly since: number; readonly sent: Promise<void> }
  | { readonly kind: 'backing off'; readonly cancel: () => void };

export const IDLE: Step = { kind: 'idle' };
