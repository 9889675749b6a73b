"""Words that carry no topic, by language: folded as `words.fold` does, so without diacritics.

Scripts that are written without spaces meet as pairs of characters, so their entries are such pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from admit.text.terms import STOP_WORDS

_ENGLISH = """
    able above after again against all also another because before being below between both don during each
    every few further get got having here hers herself himself itself let ll may me might more most must my
    myself need now off once only other ours ourselves over own re same she should still t than themselves
    through too under until up upon us used using ve very via want while within without would yet yours
    yourself
"""

_LATIN = {
    "german": """
        aber alle allem allen als also am an auch auf aus bei beim bin bis bitte da damit dann das dass dein
        dem den der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen
        einer eines er es etwas euch fur gegen habe haben hat hatte hier ich ihm ihn ihnen ihr ihre im in
        ins ist ja jede jeden jeder jedes jetzt kann kannst kein keine keinen konnen konnte man mein meine
        meinem meinen meiner mich mir mit mochte muss nach nicht noch nun nur ob oder ohne sehr sein seine
        sich sie sind so soll uber um und uns unser unter vom von vor war waren was wenn wer werden wie will
        wir wird wo zu zum zur zwischen
    """,
    "french": """
        a ai as au aux avec avez avoir ce cela ces cet cette chez comme comment dans de des donc dont du
        elle elles en entre es est et etait ete etre eux faut ici il ils j je l la le les leur leurs lui ma
        mais me mes moi mon ne nos notre nous on ont ou par pas peux plus pour puis qu quand que quel quelle
        quelles quels qui quoi s sa sans se ses si sont sous sur suis t ta te tes toi ton tous tout toute
        toutes tu un une veux vos votre vous y
    """,
    "spanish": """
        a al algo algun alguna ante antes aqui asi aun como con contra cual cuando de del desde donde dos e
        el ella ellos en entre era eres es esa ese eso esta estan este esto favor fue ha hasta hay he hola
        la las le les lo los mas me mi mis mucho muy nada ni no nos nosotros o otra otro para pero por
        porque puede puedes que quien quiero se sea ser si sin sobre son su sus tambien te tener tengo ti
        tiene todo todos tu tus un una uno unos y ya yo
    """,
    "portuguese": """
        a ao aos aquela aquele as ate com como da das de dela dele depois do dos e ela elas ele eles em
        entre era essa esse esta este eu favor foi ha isso isto ja la lhe mais mas me mesmo meu meus minha
        muito na nao nas nem no nos nossa nosso num o os ou para pela pelas pelo pelos por porque posso pra
        qual quando que quem quero se sem ser seu seus so sobre sua suas tambem te tem tenho ter um uma umas
        uns voce
    """,
    "italian": """
        a ad ai al alla alle anche avere c che chi ci coi col come con contro cosa cui da dai dal dalla
        dalle de degli dei del della delle dello di dove due e ed era essere favore fra gli ha hai hanno ho
        i il in io l la le lei lo loro lui ma me mi mia mie mio nei nel nella nelle no noi non nostro o ogni
        per perche piu posso puo quale quando quanto quella quelle quello questa queste questi questo qui se
        sei si sia sono su sua sue sui sul sulla suo ti tra tu tua tuo tutti tutto un una uno voglio voi
        vorrei
    """,
    "dutch": """
        aan al alle als alstublieft altijd andere ben bij daar dan dat de der deze die dit doch door dus een
        eens en er ge geen had heb hebben heeft hem het hier hij hoe hun ik in is ja je jij jou jouw kan kun
        kunnen maar me meer mij mijn moet na naar niet niets nog nu of om ons ook op over te tot u uit uw
        van veel voor waar wat we wel werd wie wij wil worden ze zich zij zijn zo zonder zou
    """,
    "swedish": """
        alla allt an att av bara blev bli blir da dar de dem den denna deras dess det detta dig din ditt du
        efter eller en er ett fran for ga ha hade han har hans har hon hur i in inte jag kan kunna man med
        mellan men mig min mina mitt mot mycket nar nagon nagot ni nu och om oss pa sa samma se sig sin sina
        sitt ska skulle snalla som till under upp ut utan vad var vara vem vi vid vilja vill
    """,
}

_OTHER = """
    а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее если есть еще же за
    здесь и из или им их к как какая какие какой ко когда кто ли меня мне можно мой мы на над надо нам нас не
    него нее нет ни них но ну о об она они оно от по под пожалуйста при с со так там то того тоже только ты у
    уже хочу чего чем что чтобы эта эти это этот я
    的 了 我 你 他 她 它 们 是 在 有 和 与 就 都 而 及 或 请 把 吗 呢 吧 啊 我们 你们 一个 一下 这个 那个
    帮我 请帮 我想 想要 我要 可以 以及 什么 怎么 如何 哪些 需要 给我 的一 为我 您好 麻烦 能否 是否 所有
    の は を に が と で も へ や か た て な する した して てく てい いる ます ませ せん です した たい くだ
    ださ さい から まで ため この その あの どの これ それ あれ こと もの よう して をし ので のに とし しま
    てほ ほし しい をお お願 願い いし ない なさ をく をさ を使 い、 だけ けに にし わな ない いで
    을 를 은 는 이 가 에 의 로 과 와 도 만 주세 세요 해주 해줘 해 줘 아주 어주 으로 에서 에게 까지 부터 하고
    하는 하지 그리 그 저 것 수 있는 있나 나요 하세 지마 마세 말고 대한 대해 위한 위해
"""


@lru_cache(maxsize=1)
def by_language() -> Mapping[str, frozenset[str]]:
    """Stop words of each language of Latin script, English first; by Snowball's names."""
    lists: dict[str, frozenset[str]] = {"english": STOP_WORDS | set(_ENGLISH.split())}
    for language, listed in _LATIN.items():
        lists[language] = frozenset(listed.split())
    return MappingProxyType(lists)


@lru_cache(maxsize=1)
def of_other_scripts() -> frozenset[str]:
    """Stop words of Russian, Chinese, Japanese and Korean; their scripts keep them apart from Latin words."""
    return frozenset(_OTHER.split())
