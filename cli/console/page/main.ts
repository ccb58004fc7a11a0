/** The page of the console: shows what the stream brings, how old it is, and asks nodes. */
import type { Answer, ConsoleModel, NetworkDetail, Pulse, StreamEvents } from '../types.ts';
import { showDetail } from './detail.ts';
import { byId, replace, setText } from './elements.ts';
import { freshnessOf } from './freshness.ts';
import { showModel, showSources } from './overview.ts';
import { openStream } from './stream.ts';

const TOKEN = 'udnctl-console-token';

/** Out of the address, so that neither history nor bookmarks keep it: reloads of this tab find it in its session. */
const takeToken = (): string => {
  const given = location.hash.slice(1);
  if (/^[A-Za-z0-9_-]{43}$/.test(given)) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, '', '/');
  }
  return sessionStorage.getItem(TOKEN) ?? '';
};

interface State {
  network: string | undefined;
  model: ConsoleModel | undefined;
  detail: NetworkDetail | null | undefined;
  /** And when it came, by this page's clock. */
  pulse: { readonly at: number; readonly data: Pulse } | undefined;
  lost: string | undefined;
  close: () => void;
}

const main = (): void => {
  const token = takeToken();
  const state: State = {
    network: undefined,
    model: undefined,
    detail: undefined,
    pulse: undefined,
    lost: undefined,
    close: () => {},
  };
  const open = (): void => {
    state.close();
    state.close = openStream({
      ...{ network: state.network, token },
      onEvent: (event, data) => {
        state.lost = undefined;
        take(state, event, data);
        show(state, choose);
      },
      onLost: (message) => {
        state.lost = message;
        show(state, choose);
      },
    });
  };
  const choose = (network: string): void => {
    state.network = network;
    state.detail = undefined;
    show(state, choose);
    open();
    byId('detail-title').focus();
  };
  open();
  // The age of what is shown grows without any news.
  setInterval(() => showFreshness(state), 1_000);
  listenToForm(token);
};

const take = <Name extends keyof StreamEvents>(state: State, event: Name, data: StreamEvents[Name]): void => {
  if (event === 'model') state.model = data as ConsoleModel;
  else if (event === 'detail') state.detail = data as NetworkDetail | null;
  else state.pulse = { at: Date.now(), data: data as Pulse };
};

const show = (state: State, choose: (network: string) => void): void => {
  const { model, network, detail, pulse } = state;
  if (model !== undefined) showModel(model, network, choose);
  if (network !== undefined) showDetail(network, detail, fillIn);
  if (pulse !== undefined) showSources(pulse.data.sources, pulse.data.now + Date.now() - pulse.at);
  showFreshness(state);
};

const showFreshness = ({ pulse, lost, model }: State): void => {
  const age = pulse === undefined ? undefined : { ...pulse.data, now: pulse.data.now + Date.now() - pulse.at };
  const { connection, summary } = freshnessOf({ pulse: age, lost, model });
  setText('connection', connection.text, connection.kind);
  setText('summary', summary.text, summary.kind);
  document.body.classList.toggle('stale', connection.kind !== 'good');
};

const form = (): HTMLFormElement => byId('trace') as HTMLFormElement;

const fillIn = (pod: string): void => {
  const field = form().elements.namedItem('from') as HTMLInputElement;
  field.value = pod;
  field.focus();
};

const listenToForm = (token: string): void => {
  form().addEventListener('submit', (event) => {
    event.preventDefault();
    const fields = new FormData(form(), event.submitter);
    const text = (name: string): string => String(fields.get(name) ?? '').trim();
    const question =
      text('kind') === 'explain-pod'
        ? { kind: 'explain-pod', pod: text('from') }
        : {
            ...{ kind: 'trace', from: text('from'), to: text('to') },
            ...(text('port') !== '' && { port: Number(text('port')) }),
            ...(text('protocol') !== '' && { protocol: text('protocol') }),
          };
    void ask(question, token);
  });
};

const ask = async (question: object, token: string): Promise<void> => {
  setText('answer-state', 'The node is being asked.');
  byId('answer').hidden = true;
  try {
    const response = await fetch('/api/ask', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(question),
    });
    if (!response.ok) return setText('answer-state', `Not asked: ${(await response.text()).trim()}`, 'bad');
    showAnswer(await response.json());
  } catch {
    setText('answer-state', 'Not asked: the console does not answer', 'bad');
  }
};

const showAnswer = ({ exitStatus, node, text }: Answer): void => {
  if (exitStatus === undefined) {
    setText('answer-state', `The node could not be asked: ${text}`, 'bad');
    return;
  }
  setText(
    'answer-state',
    `Answer of node ${node ?? '?'}, exit status ${exitStatus}`,
    exitStatus === 0 ? 'good' : 'doubt',
  );
  replace('answer', text);
  byId('answer').hidden = false;
};

main();
