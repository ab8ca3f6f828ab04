/**
 * Sentences with the kind that the rules extractor should give them, or NOTHING. Rules were tuned on the first
 * list alone; the second was written at the same time and only ever measured.
 */

export interface Labelled {
  expected: string;
  text: string;
}

const parse = (block: string): Labelled[] =>
  block
    .trim()
    .split('\n')
    .map((line) => {
      const [expected, text] = line.split('|', 2) as [string, string];
      return { expected: expected.trim(), text: text.trim() };
    });

export const TUNED: readonly Labelled[] = parse(`
USER_PROFILE | My name is Priya Raman.
USER_PROFILE | call me Sam
USER_PROFILE | I'm a paediatric nurse at a hospital in Leeds.
USER_PROFILE | I live in Rotterdam with my partner.
USER_PROFILE | I'm allergic to shellfish
USER_PROFILE | i am allergic to penicillin, please keep that in mind
USER_PROFILE | I work as a data engineer for a logistics company.
USER_PROFILE | My wife is a violinist.
USER_PROFILE | I have two daughters, Mia and Lotte.
USER_PROFILE | I'm 34 years old.
USER_PROFILE | My timezone is Europe/Lisbon.
USER_PROFILE | I speak Portuguese and a little Finnish.
USER_PROFILE | I grew up on a farm near Cork.
USER_PROFILE | I was diagnosed with asthma as a child.
USER_PROFILE | My pronouns are they/them.
USER_PROFILE | I don't eat pork.
USER_PROFILE | I've been a teacher for twelve years.
USER_PROFILE | I have a golden retriever named Biscuit.
PREFERENCE | I prefer tabs over spaces
PREFERENCE | I really love long walks on the beach at night.
PREFERENCE | I can't stand cilantro.
PREFERENCE | My favourite band is Portishead.
PREFERENCE | I don't like being called on the phone.
PREFERENCE | I'm a huge fan of Studio Ghibli films.
PREFERENCE | Please always answer in German.
PREFERENCE | I usually drink my coffee black.
PREFERENCE | Hi! I hate early meetings.
PREFERENCE | Pottery is my favourite way to relax.
PREFERENCE | I'm passionate about restoring old bicycles.
PREFERENCE | I'd rather read documentation than watch videos.
PREFERENCE | Never use emojis when you reply to me.
PROJECT | The repo uses pnpm.
PROJECT | Our backend is written in Go and talks to Postgres 15.
PROJECT | We use Kafka for the event bus.
PROJECT | The project requires Java 21.
PROJECT | Our product is called Lighthouse.
PROJECT | This codebase depends on a fork of libvips.
PROJECT | We host the website on Hetzner.
CONVENTION | Always use named exports.
CONVENTION | never push directly to main
CONVENTION | The team convention is squash merging.
CONVENTION | Every pull request must have two approvals.
CONVENTION | We always write migrations by hand.
CONVENTION | From now on, use conventional commits in this repo.
CONVENTION | The team prefers small pull requests because reviews are faster.
CONVENTION | Commit messages should start with the ticket number.
DECISION | We decided to drop Redis because it was hard to operate.
DECISION | we agreed on trunk-based development
DECISION | The team chose Svelte over React.
DECISION | After a long discussion we've settled on PostgreSQL.
DECISION | I've decided to become a vegetarian.
DECISION | We're going with Terraform for the new cluster.
ENV | I use macOS Sonoma on an M2 laptop.
ENV | My editor is Neovim.
ENV | The staging database listens on port 5433.
ENV | I'm on Windows 11 with WSL2.
ENV | I run Debian 12 on my server.
ENV | We have Node 20.11 installed on the build machines.
ENV | My shell is fish.
FACT | I went to a support group for new parents yesterday.
FACT | My sister got married last summer in Tuscany.
FACT | We adopted a puppy in March.
FACT | I lost my job at the bank last week.
FACT | Lost my grandmother in January, it was a hard winter.
FACT | Tom manages the Berlin office.
FACT | Dr. Okafor prescribed metformin for my father.
FACT | I ran my first half marathon on Sunday.
FACT | I'm planning to move to Spain next year.
FACT | I'm learning to play the cello.
FACT | I've visited Japan three times.
FACT | Nadia works for Siemens in Munich.
NOTHING | Can you fix the login bug?
NOTHING | Please fix the failing test.
NOTHING | what is the capital of Mongolia
NOTHING | thanks, that worked!
NOTHING | Running the tests now.
NOTHING | I'm going to try the second option.
NOTHING | I'll push the branch in a minute.
NOTHING | Hey Maria! How have you been?
NOTHING | Wow, that sounds amazing!
NOTHING | That's so cool, congratulations!
NOTHING | You should be proud of yourself.
NOTHING | I love it!
NOTHING | I like your idea.
NOTHING | I'm so happy for you!
NOTHING | If I lived in Paris I would eat croissants every day.
NOTHING | What if we used Redis instead?
NOTHING | I just fixed the typo and pushed it.
NOTHING | I think so too.
NOTHING | I don't know.
NOTHING | I'm not sure what you mean.
NOTHING | It was really great.
NOTHING | Let me know how it goes.
NOTHING | Let's grab lunch tomorrow.
NOTHING | Add a test for the empty case.
NOTHING | Sounds good to me.
NOTHING | I need help with this error.
NOTHING | I want you to rewrite the function.
NOTHING | Show me the last ten commits.
NOTHING | good morning everyone
NOTHING | The build is failing again.
NOTHING | I'm tired today.
NOTHING | I see what you mean.
NOTHING | Good luck with the exam, I'm sure you'll do great.
NOTHING | Try running it with the verbose flag.
NOTHING | Maybe we could use SQLite.
NOTHING | I saw your message this morning.
NOTHING | It works now.
NOTHING | Explain how the garbage collector works.
NOTHING | I appreciate your help.
NOTHING | Hope you're doing well!
`);

export const HELD_OUT: readonly Labelled[] = parse(`
USER_PROFILE | Hi, my name's Tomasz and I come from Gdynia.
USER_PROFILE | I'm vegan.
USER_PROFILE | I teach chemistry at a secondary school.
USER_PROFILE | My husband works on an oil rig.
USER_PROFILE | I've got three brothers.
USER_PROFILE | We live in a small flat above a bakery.
USER_PROFILE | I'm originally from Ecuador.
USER_PROFILE | My email is ines@example.org
USER_PROFILE | I was born in 1988.
USER_PROFILE | I'm lactose intolerant, so no cheese for me.
USER_PROFILE | I moved to Oslo five years ago.
USER_PROFILE | My son has autism.
USER_PROFILE | I'm the CTO of a small robotics startup.
USER_PROFILE | People call me Bex.
USER_PROFILE | I take insulin twice a day.
USER_PROFILE | I'm married to a firefighter.
PREFERENCE | I like my steak rare.
PREFERENCE | I enjoy hiking in the Alps with my kids.
PREFERENCE | I'm not a fan of horror movies.
PREFERENCE | My favorite season is autumn because of the colours.
PREFERENCE | I never watch television.
PREFERENCE | Keep your answers short from now on.
PREFERENCE | I hate it when code has no tests.
PREFERENCE | We both love Italian food.
PREFERENCE | Jazz is my passion.
PREFERENCE | I tend to work late at night.
PREFERENCE | I prefer window seats on planes
PREFERENCE | I'm really into bouldering these days.
PROJECT | The project is a billing system for dentists.
PROJECT | Our app runs on Kubernetes.
PROJECT | Our frontend uses Vue 3 and Pinia.
PROJECT | We deploy with ArgoCD.
PROJECT | The codebase is a monorepo with twelve packages.
PROJECT | Our main customer is a bank in Zurich.
PROJECT | We store images in S3.
CONVENTION | Never commit secrets to the repository.
CONVENTION | We never deploy on Fridays.
CONVENTION | All endpoints must return JSON.
CONVENTION | The standard requires two spaces of indentation.
CONVENTION | Branches should be named after the ticket.
CONVENTION | We only merge with a green build, otherwise main breaks.
CONVENTION | Always write tests before you refactor.
DECISION | We've decided against microservices for now.
DECISION | The board agreed to open a second office in Porto.
DECISION | We picked Tailwind because the designers know it.
DECISION | I decided to go back to university.
DECISION | In the end we opted for a managed database.
DECISION | We switched from Jest to Vitest to make the suite faster.
ENV | I use Emacs with evil mode.
ENV | My laptop runs Ubuntu 24.04.
ENV | The API server runs on port 8080.
ENV | My phone is a Pixel 8.
ENV | I have Python 3.12 installed.
ENV | Our production cluster runs Kubernetes 1.29.
FACT | I finally finished writing my first novel last month.
FACT | My brother moved to Canada in 2019.
FACT | We went camping in the Dolomites with the kids last weekend.
FACT | I bought a red canoe at an auction.
FACT | Elena leads the security team.
FACT | My grandfather died in April.
FACT | I'm training for a triathlon.
FACT | I won second prize in a baking contest.
FACT | I want to open a bookshop one day.
FACT | Farid reports to Lucy.
FACT | I've been taking pottery classes since September.
FACT | My daughter started school this year.
NOTHING | Could you summarise this article for me?
NOTHING | Write a haiku about rain.
NOTHING | Yeah, totally agree with you.
NOTHING | I'm working on it.
NOTHING | ok let me check the logs
NOTHING | Thanks for the tip, I really appreciate it!
NOTHING | That must have been hard for you.
NOTHING | Take care and talk to you soon!
NOTHING | I'm glad to hear that.
NOTHING | Why does this crash?
NOTHING | The tests pass now.
NOTHING | I just restarted the server.
NOTHING | Suppose I had a million dollars.
NOTHING | I'd like to know how this works.
NOTHING | Run the linter and commit the result.
NOTHING | You always know what to say.
NOTHING | It's so beautiful!
NOTHING | I'm about to deploy the hotfix.
NOTHING | There is an error in line 42.
NOTHING | I love that for you.
NOTHING | Do you have any pets?
NOTHING | hello there my friend
NOTHING | Going to bed now, good night.
NOTHING | I guess you are right.
NOTHING | Rename the variable to total.
NOTHING | I hope it stays sunny.
NOTHING | Tell me more about your trip.
NOTHING | This is the wrong file.
NOTHING | We should probably look at the cache.
NOTHING | I was bored so I scrolled my phone.
NOTHING | I'm at the airport right now.
NOTHING | No worries, take your time.
`);
