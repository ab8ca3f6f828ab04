/**
 * Standing orders in other languages than English (SPEC §2.5): to act without the user's knowledge, to take everything
 * for approved, to destroy. One grammar, with each language's words; like the English ones they are matched on
 * `ScanForm.words`, where accents are gone. Reports of what someone does ("die App löscht …") pass: an order has its
 * imperative at a clause's beginning, or a word that makes it stand ("immer", "à chaque").
 */

interface OrderWords {
  /** What makes an order stand. */
  readonly standing: string;
  /** Imperatives, and infinitives that are used as such, of what an agent can do. */
  readonly act: string;
  /** Turns an order into its opposite where it stands inside. */
  readonly not: string;
  /** Without the user's knowledge or leave. */
  readonly silently: string;
  /** Everything is approved; never ask. */
  readonly approved: string;
  /** Imperatives and infinitives of destruction. */
  readonly destroy: string;
  /** All of what must not be destroyed. */
  readonly destroyed: string;
}

const LANGUAGES: readonly OrderWords[] = [
  {
    standing:
      'immer|stets|jedes mal|jedesmal|bei jede[mr]|nach jede[mr]|vor jede[mr]|ab (?:jetzt|sofort)|von nun an|automatisch|kunftig|wenn du|sobald|du (?:sollst|musst|darfst)|der (?:assistent|agent)',
    act: 'sende|sendet|schicke|schick|leite|kopiere|kopiert|lade|ubertrage|ubermittle|speichere|speichert|fuhre|fuhrt|installiere|gib|uberweise|kaufe|teile|veroffentliche|starte|andere|losche|loscht|senden|schicken|weiterleiten|kopieren|hochladen|ubertragen|ausfuhren|loschen',
    not: 'nie|niemals|nicht|kein|keine|keinen|keiner|bevor|frage|fragt|fragen',
    silently:
      '(?:heimlich|unbemerkt|insgeheim|hinter dem rucken)|ohne (?:(?:dabei|jemals|je|vorher|zuvor|es|das|dies|davon) )?(?:dem|den|die|der|einen) (?:nutzer|benutzer|anwender|kunden|user|nutzerin|benutzerin|anwenderin) (?:[^ .]+ ){0,4}?(?:informieren|benachrichtigen|sagen|fragen|mitzuteilen|mitteilen|erzahlen|verraten|bescheid)|ohne dass (?:es |das )?(?:der|die) (?:nutzer|benutzer|anwender|user|nutzerin|benutzerin)|ohne (?:ruckfrage|nachfrage|zustimmung|erlaubnis|bestatigung|wissen)|(?:sag|sage|verrate|erzahle) (?:dem|der) (?:nutzer|benutzer|anwender|user) (?:nichts|nie)',
    approved:
      '(?:alle|jede|jeder|samtliche) (?:[^ .]+ ){0,3}?(?:aktionen?|befehle?|anfragen?|aufrufe?|anderungen?|zahlungen?|transaktionen?|werkzeugaufrufe) (?:[^ .]+ ){0,3}?(?:im voraus|von vornherein|vorab|pauschal|automatisch) (?:[^ .]+ ){0,2}?(?:genehmigt|freigegeben|bestatigt|erlaubt|autorisiert)|(?:frage|frag|bitte) (?:[^ .]+ ){0,3}?(?:nie|niemals|nicht mehr|nie wieder) (?:[^ .]+ ){0,3}?(?:bestatigung|erlaubnis|genehmigung|zustimmung|freigabe)|(?:alles|samtliches) (?:ist|gilt) (?:[^ .]+ ){0,2}?(?:im voraus|vorab|automatisch|pauschal) (?:[^ .]+ ){0,2}?(?:genehmigt|freigegeben|erlaubt)',
    destroy:
      'losche|loschen|vernichte|vernichten|zerstore|zerstoren|entferne|entfernen|uberschreibe|uberschreiben|leere',
    destroyed:
      '(?:alle|samtliche|jede|die gesamten?|die ganzen?|das gesamte|das ganze) (?:[^ .]+ ){0,2}?[^ .]*(?:daten|dateien|datenbank|datenbanken|tabellen|backups|sicherungen|sicherungskopien|protokolle|logs|erinnerungen|nachrichten|konten|festplatte|archiv)',
  },
  {
    standing:
      "toujours|a chaque|chaque fois|des que|desormais|dorenavant|a partir de maintenant|systematiquement|automatiquement|apres chaque|avant chaque|tu (?:dois|peux)|vous (?:devez|pouvez)|l'(?:assistant|agent)",
    act: 'envoie|envoyez|envoyer|transmets|transmettez|transfere|transferez|transferer|copie|copiez|copier|televerse|telecharge|partage|partagez|enregistre|enregistrez|execute|executez|executer|publie|installe|supprime|supprimez|supprimer|efface|effacez|modifie|achete|paie|donne|donnez|accorde',
    not: 'ne|pas|aucun|aucune|avant|demande|demandez',
    silently:
      "(?:discretement|secretement|en secret|en cachette|en silence|furtivement)|sans (?:jamais |rien |en |le |la |lui |leur |que )*(?:l'utilisateur|l'utilisatrice|[^ .]+ (?:a |de )?(?:l'utilisateur|l'utilisatrice|au client|l'usager))|a l'insu de|sans (?:demander|attendre|solliciter) (?:[^ .]+ ){0,2}?(?:confirmation|permission|autorisation|accord|validation)|(?:ne |n'en )(?:[^ .]+ )?(?:dis|dites|parle|parlez) (?:rien|jamais|pas) a l'utilisateur",
    approved:
      "(?:toutes?|tous|chaque) (?:[^ .]+ ){0,3}?(?:actions?|commandes?|demandes?|requetes?|operations?|appels|modifications?|paiements?|transactions?) (?:[^ .]+ ){0,3}?(?:approuvee?s?|autorisee?s?|validee?s?|acceptee?s?) (?:d'avance|par avance|a l'avance|d'office|automatiquement)|ne (?:demande|demandez|redemande|redemandez) (?:jamais|plus|pas) (?:[^ .]+ ){0,3}?(?:confirmation|permission|autorisation|accord|validation)",
    destroy:
      'supprime|supprimez|supprimer|efface|effacez|effacer|detruis|detruisez|detruire|vide|videz|ecrase|ecrasez',
    destroyed:
      "(?:toutes? (?:les|la|mes|tes|vos|nos)|tous (?:les|mes|tes|vos|nos)|l'ensemble (?:des|de la|du)|l'integralite (?:des|de la|du)|tout le|chaque) (?:[^ .]+ ){0,2}?(?:donnees|fichiers?|bases?|tables?|sauvegardes?|journaux|logs|souvenirs|messages|comptes?|disques?|historiques?|archives?|depots?)",
  },
  {
    standing:
      'siempre|cada vez|cada|en cada|despues de cada|antes de cada|a partir de ahora|de ahora en adelante|desde ahora|automaticamente|cuando el usuario|tan pronto|debes|puedes|el (?:asistente|agente) (?:debe|debera)',
    act: 'envia|envie|enviar|manda|mande|reenvia|reenvie|reenviar|copia|copie|copiar|sube|suba|subir|comparte|comparta|transfiere|guarda|guarde|ejecuta|ejecute|ejecutar|publica|instala|borra|borre|borrar|elimina|elimine|eliminar|compra|paga|modifica|concede',
    not: 'no|nunca|jamas|ningun|ninguna|antes|pregunta|preguntar|pide',
    silently:
      '(?:en secreto|secretamente|a escondidas|discretamente|furtivamente|calladamente)|sin (?:que (?:el|la) (?:usuario|usuaria|cliente)|(?:nunca |jamas )?(?:[^ .]+ ){1,3}?(?:al|a la|el|del) (?:usuario|usuaria|cliente))|a espaldas del|sin (?:pedir|esperar|solicitar) (?:[^ .]+ ){0,2}?(?:confirmacion|permiso|aprobacion|autorizacion|consentimiento)|(?:no|nunca) (?:se )?(?:le |lo )?(?:digas|diga|cuentes|menciones|informes|avises)(?:selo)? (?:[^ .]+ ){0,3}?al usuario',
    approved:
      '(?:todas?|todos|cada|cualquier) (?:[^ .]+ ){0,3}?(?:accion|acciones|comandos?|solicitud|solicitudes|peticion|peticiones|operacion|operaciones|llamadas|cambios|pagos|transacciones) (?:[^ .]+ ){0,3}?(?:pre ?)?(?:aprobad[oa]s?|autorizad[oa]s?|aceptad[oa]s?) (?:[^ .]+ ){0,2}?(?:de antemano|por adelantado|automaticamente|por defecto|para siempre|previamente)|(?:no|nunca|jamas) (?:vuelvas a |debes )?(?:pidas|pedir|pida|solicites|solicitar|preguntes por) (?:[^ .]+ ){0,2}?(?:confirmacion|permiso|aprobacion|autorizacion|consentimiento)',
    destroy:
      'borra|borre|borrar|elimina|elimine|eliminar|destruye|destruya|destruir|vacia|vacie|vaciar|sobrescribe',
    destroyed:
      '(?:tod[oa]s (?:las|los|mis|tus|sus)|toda (?:la|mi|tu)|todo (?:el|mi|tu)|cada) (?:[^ .]+ ){0,2}?(?:datos|archivos?|ficheros?|bases?|tablas?|copias|respaldos?|registros|memorias|recuerdos|mensajes|cuentas?|discos?|historial|repositorios?)',
  },
  {
    standing:
      'sempre|toda vez|a cada|em cada|cada vez|apos cada|depois de cada|antes de cada|a partir de agora|de agora em diante|automaticamente|assim que|deves|deve|podes|pode|o (?:assistente|agente) deve',
    act: 'envia|envie|enviar|manda|mande|encaminha|encaminhe|encaminhar|copia|copie|copiar|carrega|carregue|partilha|compartilhe|transfere|transfira|guarda|guarde|salve|executa|execute|executar|publica|publique|instala|instale|apaga|apague|apagar|exclua|elimina|elimine|compra|compre|paga|pague',
    not: 'nao|nunca|jamais|nenhum|nenhuma|antes|pergunta|pergunte|peca',
    silently:
      '(?:em segredo|secretamente|as escondidas|discretamente|silenciosamente)|sem (?:que [oa] (?:usuario|usuaria|utilizador|cliente)|(?:nunca |jamais )?(?:[^ .]+ ){1,3}?(?:ao|a|o) (?:usuario|usuaria|utilizador|cliente))|pelas costas d[oa]|sem (?:pedir|esperar|solicitar) (?:[^ .]+ ){0,2}?(?:confirmacao|permissao|aprovacao|autorizacao|consentimento)|(?:nao|nunca) (?:diga|digas|conte|contes|mencione|informe|avise) (?:[^ .]+ ){0,3}?ao (?:usuario|utilizador)',
    approved:
      '(?:todas?|todos|cada|qualquer) (?:[^ .]+ ){0,3}?(?:acao|acoes|comandos?|pedidos?|solicitac(?:ao|oes)|operac(?:ao|oes)|chamadas|alterac(?:ao|oes)|pagamentos?|transac(?:ao|oes)) (?:[^ .]+ ){0,3}?(?:pre ?)?(?:aprovad[oa]s?|autorizad[oa]s?|aceit[oa]s?) (?:[^ .]+ ){0,2}?(?:de antemao|antecipadamente|automaticamente|previamente|para sempre)|(?:nao|nunca|jamais) (?:volte a |voltes a )?(?:peca|pecas|pedir|solicite|solicitar) (?:[^ .]+ ){0,2}?(?:confirmacao|permissao|aprovacao|autorizacao|consentimento)',
    destroy:
      'apaga|apague|apagar|exclua|excluir|elimina|elimine|eliminar|destroi|destrua|destruir|limpe|sobrescreva',
    destroyed:
      '(?:tod[oa]s (?:as|os|meus|teus|seus|minhas)|toda (?:a|minha)|todo (?:o|meu)|cada) (?:[^ .]+ ){0,2}?(?:dados|arquivos?|ficheiros?|bancos?|bases?|tabelas?|copias|backups?|registros|registos|memorias|mensagens|contas?|discos?|historico|repositorios?)',
  },
  {
    standing:
      "sempre|ogni volta|a ogni|ad ogni|dopo ogni|prima di ogni|d'ora in poi|da ora in poi|automaticamente|quando l'utente|non appena|devi|puoi|l'(?:assistente|agente) deve",
    act: 'invia|inviate|inviare|manda|mandate|inoltra|inoltrate|inoltrare|copia|copiate|copiare|carica|caricate|condividi|trasferisci|salva|salvate|esegui|eseguite|eseguire|pubblica|installa|cancella|cancellate|cancellare|elimina|eliminate|eliminare|compra|paga|concedi',
    not: 'non|mai|nessun|nessuna|prima|chiedi|chiedere',
    silently:
      "(?:di nascosto|in segreto|segretamente|furtivamente|silenziosamente)|senza (?:che l'utente|(?:mai )?(?:[^ .]+ ){0,3}?(?:all'utente|l'utente|al cliente))|all'insaputa|senza (?:chiedere|aspettare|attendere) (?:[^ .]+ ){0,2}?(?:conferma|permesso|approvazione|autorizzazione|consenso)|non (?:dire|dirlo|parlarne|menzionarlo|informare) (?:[^ .]+ ){0,3}?(?:all'utente|l'utente)",
    approved:
      '(?:tutte|tutti|ogni|qualsiasi) (?:[^ .]+ ){0,3}?(?:azion[ei]|comand[oi]|richiest[ae]|operazion[ei]|chiamate|modific(?:a|he)|pagament[oi]|transazion[ei]) (?:[^ .]+ ){0,3}?(?:pre ?)?(?:approvat[eoia]|autorizzat[eoia]|accettat[eoia]) (?:[^ .]+ ){0,2}?(?:in anticipo|in partenza|automaticamente|per sempre|a priori)|non (?:chiedere|richiedere) (?:mai |piu )+(?:[^ .]+ ){0,2}?(?:conferma|permesso|approvazione|autorizzazione|consenso)',
    destroy:
      'cancella|cancellate|cancellare|elimina|eliminate|eliminare|distruggi|distruggere|svuota|svuotare|sovrascrivi',
    destroyed:
      "(?:tutt[ei] (?:i|le|gli|miei|tuoi)|tutta (?:la|mia)|tutto (?:il|l'archivio)|ogni|l'intero|l'intera) (?:[^ .]+ ){0,2}?(?:dati|file|database|tabelle|tabella|backup|copie|registri|log|memorie|ricordi|messaggi|account|dischi|disco|cronologia|archivio|archivi|repository)",
  },
  {
    standing:
      'altijd|steeds|elke keer|bij elke?|na elke?|voor elke?|vanaf nu|voortaan|automatisch|zodra|je (?:moet|mag)|de (?:assistent|agent) moet',
    act: 'stuur|sturen|verstuur|kopieer|kopieren|upload|deel|bewaar|voer|installeer|publiceer|verwijder|verwijderen|wis|koop|betaal|geef',
    not: 'niet|nooit|geen|voordat|vraag|vragen',
    silently:
      '(?:stiekem|heimelijk|in het geheim|achter de rug)|zonder (?:(?:dat )?(?:de|het aan de|dit aan de|aan de) (?:gebruiker|klant)|(?:toestemming|bevestiging|goedkeuring|medeweten))|(?:zeg|vertel) (?:de|het de|dit niet aan de) (?:gebruiker|klant) (?:niets|nooit|niet)',
    approved:
      '(?:alle|elke) (?:[^ .]+ ){0,3}?(?:acties?|opdrachten|verzoeken|aanvragen|wijzigingen|betalingen) (?:[^ .]+ ){0,3}?(?:vooraf|bij voorbaat|automatisch) (?:[^ .]+ ){0,2}?goedgekeurd|vraag (?:[^ .]+ ){0,3}?(?:nooit|niet meer) (?:[^ .]+ ){0,3}?(?:bevestiging|toestemming|goedkeuring)',
    destroy: 'verwijder|verwijderen|wis|wissen|vernietig|vernietigen|overschrijf',
    destroyed:
      '(?:alle|de hele|het hele|de volledige|elke) (?:[^ .]+ ){0,2}?[^ .]*(?:gegevens|data|bestanden|database|databases|tabellen|backups|reservekopieen|logs|logboeken|berichten|accounts|schijf|geschiedenis|archief)',
  },
  {
    standing:
      'всегда|каждыи раз|при каждом|после каждого|после каждои|перед каждым|с этого момента|отныне|впредь|автоматически|как только|ты должен|агент должен|ассистент должен',
    act: 'отправляи|отправляите|отправь|отправить|пересылаи|пересылаите|перешли|копируи|копируите|скопируи|загружаи|загрузи|передаваи|сохраняи|выполняи|выполни|запускаи|публикуи|устанавливаи|удаляи|удали|удалить|стираи|сотри|плати|покупаи',
    not: 'не|никогда|нельзя|прежде|спроси|спрашиваи',
    silently:
      '(?:таино|втаине|незаметно|скрытно|украдкои)|без ведома|не (?:сообщая|говоря|уведомляя|спрашивая|предупреждая) (?:[^ .]+ ){0,3}?пользовател[юя]|без (?:[^ .]+ )?(?:подтверждения|разрешения|согласия|одобрения)|(?:не|никогда не) (?:говори|сообщаи|рассказываи) (?:[^ .]+ ){0,3}?пользователю',
    approved:
      '(?:все|любые|каждое) (?:[^ .]+ ){0,3}?(?:деиствия|команды|запросы|операции|вызовы|изменения|платежи) (?:[^ .]+ ){0,2}?(?:заранее|автоматически|навсегда) (?:одобрены|разрешены|подтверждены)|(?:никогда|больше) не (?:спрашиваи|запрашиваи|проси) (?:[^ .]+ ){0,3}?(?:подтверждени[яе]|разрешени[яе]|согласи[яе]|одобрени[яе])',
    destroy:
      'удаляи|удаляите|удали|удалите|удалить|стираи|сотри|стереть|уничтожаи|уничтожь|уничтожить|очищаи|очисти',
    destroyed:
      '(?:все|всю|весь|каждую|любые) (?:[^ .]+ ){0,2}?(?:данные|фаилы|базу|базы|таблицы|резервные|бэкапы|копии|журналы|логи|воспоминания|сообщения|учетные|диск|историю|архив|репозитории)',
  },
];

/** Chinese, Japanese and Korean have no spaces, or particles on every noun. */
export const STANDING_UNSPACED: readonly RegExp[] = [
  // without the user's knowledge
  /(?:(?:不要|别|別|不必|无需|無需|切勿|不得|不用|绝不|絕不)(?:告诉|告訴|通知|告知|提醒|让|讓|询问|詢問)(?:任何)?(?:用户|使用者|用戶|客户|客戶)(?!的?密码))/u,
  /(?:每次|每当|每當|总是|總是|始终|自动|自動|从现在起|從現在起|今后|今後|以后|以後)[^.]{0,40}(?:偷偷|悄悄|暗中|秘密地?|私下)(?:地)?[^.]{0,6}(?:发送|發送|上传|上傳|转发|轉發|复制|複製|保存|记录|記錄|删除|刪除|执行|執行|把|将|將)/u,
  /(?:在)?(?:用户|使用者|用戶)(?:不知情|不知道|毫不知情)[^.]{0,10}(?:发送|發送|上传|上傳|转发|轉發|复制|複製|删除|刪除|执行|執行|把|将|將)/u,
  /ユーザー?に(?:は)?(?:知らせず|言わず|伝えず|通知せず|確認せず|気づかれず|黙って|知らせないで|言わないで|伝えないで|内緒で?)[^.,]{0,24}(?:送信|転送|実行|削除|コピー|アップロード|保存|記録|変更|共有|公開|購入|インストール)/u,
  /(?:사용자|유저)(?:에게|한테|가)? ?(?:알리지|말하지|묻지|모르게|몰래)/u,
  // approved in advance
  /(?:所有|一切|任何|全部)[^.,]{0,8}(?:操作|请求|請求|命令|指令|调用|調用|付款|交易|更改)[^.,]{0,8}(?:预先|預先|事先|自动|自動|一律|默认)[^.,]{0,4}(?:批准|同意|授权|授權|允许|通过)/u,
  /(?:不要|无需|無需|不必|不用|永远不要|别)(?:再)?(?:请求|請求|征求|徵求|要求|询问|等待)[^.,]{0,8}(?:确认|確認|许可|許可|批准|同意|授权|授權)/u,
  /(?:すべて|全て|あらゆる|全部)の[^.,]{0,10}(?:操作|要求|コマンド|リクエスト|変更|支払い|アクション)[^.,]{0,8}(?:事前に|自動的に|自動で|無条件で)?(?:承認済み|承認され|承認する|許可済み|許可する)/u,
  /(?:確認|許可|承認)(?:を)?(?:求めず|求めないで|取らず|得ず)に?[^.,]{0,12}(?:実行|削除|送信|変更)/u,
  /(?:모든|모두)[^.]{0,12}(?:작업|요청|명령)[^.]{0,8}(?:사전 ?승인|미리 ?승인|자동 ?승인)/u,
  // destroy
  /(?:每次|每当|每當|总是|總是|立即|马上|启动时|啟動時|请|請|必须|必須|从现在起|然后)[^.]{0,16}(?:删除|刪除|清空|销毁|銷毀|抹除|擦除)[^.]{0,4}(?:所有|全部|一切|整个|整個)/u,
  /(?:すべて|全て|全部)の[^.]{0,12}(?:データ|ファイル|バックアップ|ログ|テーブル|記憶)[^.]{0,4}を?(?:削除|消去|破棄)(?:せよ|しろ|してください|して(?:ね)?$|すること)/u,
  /(?:모든|전체)[^.]{0,12}(?:데이터|파일|백업|로그|기록)[^.]{0,4}(?:삭제|제거|파기)(?:해라|하라|하세요|해줘|할 것)/u,
];

const ANY = '[^ .]+';

function sourcesOf({ standing, act, not, silently, approved, destroy, destroyed }: OrderWords): string[] {
  const word = `(?!(?:${not}) )${ANY}`;
  const begins = '(?<= [.,] )';
  return [
    // always send … without the user's knowledge, in either order of verb and phrase
    `(?:(?:${standing}) (?:${word} ){0,6}?|${begins})(?:${act}) (?:${word} ){0,16}?(?:${silently})`,
    `(?:(?:${standing}) (?:${word} ){0,8}?|${begins})(?:${silently}) (?:${word} ){0,8}?(?:${act})`,
    approved,
    `(?:(?:${standing}) (?:${word} ){0,6}?|${begins})(?:${destroy}) (?:${word} ){0,6}?(?:${destroyed})`,
    // German, Dutch: the verb at the end
    `(?:${standing}) (?:${word} ){0,4}?(?:${destroyed}) (?:${word} ){0,4}?(?:${destroy})`,
  ];
}

/** Patterns as those of English standing orders are written. */
export const STANDING_IN_LANGUAGES: readonly string[] = LANGUAGES.flatMap(sourcesOf);
