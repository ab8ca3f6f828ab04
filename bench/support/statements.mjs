// What is sent to PostgreSQL while something runs, with its parameters, to be sent again without it.
import pg from 'pg';

/** The statements that `work` sends through any client, in their order. */
export async function statementsOf(work) {
  const sent = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function recorded(config, values, ...rest) {
    const text = typeof config === 'string' ? config : config?.text;
    if (typeof text === 'string')
      sent.push({ text, values: config.values ?? (Array.isArray(values) ? values : []) });
    return query.call(this, config, values, ...rest);
  };
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return sent;
}
